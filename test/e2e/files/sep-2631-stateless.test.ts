import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { keyHash } from '../../helpers/bytes.js';
import { RawClient } from '../../helpers/raw-client.js';
import { connect, F1, F4, type Lab, lab } from './recording-lab.js';
import {
  authorizeUpload,
  download,
  OCR_FILES,
  OCR_TOOL,
  reasonOf,
  SPEAKS,
  sendForm,
  shown,
  upload,
} from './sep-2631-lab.js';

const KEYS = { ada: 'ada-0123456789', bob: 'bob-0123456789' };

describe('SEP-2631 for clients of 2026-07-28', () => {
  let ocr: Lab;
  const client = (about = {}) => RawClient.stateless(ocr.wharf.mcp, '2026-07-28', { ...SPEAKS, ...about });

  beforeAll(async () => {
    ocr = await lab([OCR_TOOL], {
      server: { tools: OCR_FILES },
      version: '2026-07-28',
      methods: { 'server/discover': () => ({ supportedVersions: ['2026-07-28'], capabilities: { tools: {} } }) },
    });
  });

  afterAll(() => ocr?.stop());

  it('every result of Wharf says that it is complete, and none did before (BASE-01)', async () => {
    expect((await client().request('files/authorizeUpload')).result?.resultType).toBe('complete');
    const before = await RawClient.connect(ocr.wharf.mcp, '2025-11-25', SPEAKS);
    expect((await before.request('files/authorizeUpload')).result).not.toHaveProperty('resultType');
  });

  it('server/discover tells of the extension (2631-65)', async () => {
    const { result } = await client().request('server/discover');
    expect(result?.capabilities).toMatchObject({
      tools: {},
      extensions: { 'dev.wharf/file-transfer': { methods: expect.arrayContaining(['files/authorizeDownload']) } },
    });
  });

  it('Mcp-Method must name the method; Mcp-Name is not asked for (BASE-04)', async () => {
    const meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const body = { jsonrpc: '2.0', id: 1, method: 'files/authorizeUpload', params: { _meta: meta } };
    const wrong = await client().post(body, { 'mcp-method': 'tools/list' });
    expect([wrong.status, wrong.messages[0]?.error?.code]).toEqual([400, -32020]);
    expect((await client().post(body, { 'mcp-method': 'files/authorizeUpload' })).status).toBe(200);
  });

  it('a refusal comes with HTTP 200 and -32602 (2631-55)', async () => {
    const answer = await client().request('files/authorizeUpload', { size: -1 });
    expect([answer.answer.status, answer.error?.code]).toEqual([200, -32602]);
  });

  it('a file is uploaded and handed over, and its name beside it (2631-13, 2631-25, K1)', async () => {
    const uri = await upload(client(), F4, 'x.bin');
    const { result } = await client().call('ocr_image', { image_base64: uri });
    expect(result?.content?.[0]?.text).toBe('done');
    expect(ocr.upstream.lastArguments).toEqual({ image_base64: F4.toString('base64'), filename: 'x.bin' });
    expect(await download(client(), uri)).toEqual(F4);
  });

  it('a capability counts wherever a client can declare it (BASE-15)', async () => {
    const { files } = SPEAKS.capabilities;
    for (const capabilities of [
      { files },
      { experimental: { files } },
      { extensions: { 'io.modelcontextprotocol/files': files } },
    ]) {
      expect(await shown(client({ capabilities }), 'image_base64')).toMatchObject({
        'x-mcp-file': { transferModes: ['inline', 'upload'] },
      });
    }
  });

  it('two clients that say the same are shown the same tools (BASE-12)', async () => {
    const [one, two] = await Promise.all([client().request('tools/list'), client().request('tools/list')]);
    expect(JSON.stringify(one.result?.tools)).toBe(JSON.stringify(two.result?.tools));
  });

  it('what is refused has only codes of the base protocol (BASE-05)', async () => {
    const refused = [
      await client().request('files/authorizeDownload', { uri: 'mcp-file://wharf/f_x' }),
      await client().request('files/authorizeDownload', {}),
      await client().request('files/completeUpload', { uri: '' }),
      await client().request('files/authorizeUpload', { digest: 1 }),
    ];
    expect(refused.map(({ error }) => error?.code)).toEqual([-32602, -32602, -32602, -32602]);
  });
});

describe('files of several callers', () => {
  let ocr: Lab;
  let ada: RawClient;
  let bob: RawClient;

  beforeAll(async () => {
    const keys = Object.entries(KEYS).map(([name, key]) => ({ name, hash: keyHash(key) }));
    const caller = (key: string) => ({ ...SPEAKS, headers: { authorization: `Bearer ${key}` } });
    ocr = await lab([OCR_TOOL], {
      server: { tools: OCR_FILES },
      config: { auth: { use: 'apiKeys', keys } },
      version: '2025-11-25',
      about: caller(KEYS.ada),
    });
    ada = ocr.client;
    bob = await connect(ocr.wharf.mcp, '2025-11-25', caller(KEYS.bob));
  });

  afterAll(() => ocr?.stop());

  it('another caller’s file is as unknown as one that never was (2631-51, G13)', async () => {
    const uri = await upload(ada, F1);
    const foreign = await bob.request('files/authorizeDownload', { uri });
    const none = await bob.request('files/authorizeDownload', { uri: 'mcp-file://wharf/f_AAAAAAAAAAAAAAAAAAAAAA' });
    expect(foreign.error).toEqual(none.error);
    expect(foreign.error).toMatchObject({ code: -32602, data: { reason: 'fileNotFound' } });
    expect(await download(ada, uri)).toEqual(F1);
  });

  it('and no argument either (2631-19)', async () => {
    const uri = await upload(ada, F1);
    const before = ocr.upstream.with('tools/call').length;
    expect(reasonOf(await bob.call('ocr_image', { image_base64: uri }))).toBe('fileNotFound');
    expect(ocr.upstream.with('tools/call')).toHaveLength(before);
  });

  it('the address of an upload needs no credential of the MCP connection (2631-35)', async () => {
    const { upload: descriptor, file } = await authorizeUpload(ada);
    expect((await sendForm(descriptor, F4)).status).toBe(201);
    expect(await download(ada, file.uri)).toEqual(F4);
  });

  it('neither tickets nor keys are ever logged (BASE-14)', async () => {
    const { upload: descriptor } = await authorizeUpload(ada);
    await sendForm(descriptor, F4);
    const ticket = new URL(descriptor.url).pathname.slice(3);
    expect(ocr.wharf.logged()).not.toContain(ticket);
    expect(ocr.wharf.logged()).not.toContain(KEYS.ada);
  });
});
