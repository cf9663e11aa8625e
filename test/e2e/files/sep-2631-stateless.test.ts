import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RawClient } from '../../helpers/raw-client.js';
import { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';
import {
  authorizeUpload,
  download,
  F1,
  F4,
  OCR_FILES,
  OCR_TOOL,
  reasonOf,
  SPEAKS,
  sendForm,
  shown,
  upload,
} from './sep-2631-lab.js';

const KEYS = { ada: 'ada-0123456789', bob: 'bob-0123456789' };
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

describe('SEP-2631 for clients of 2026-07-28', () => {
  let server: RecordingUpstream;
  let wharf: Wharf;
  const client = (about = {}) => RawClient.stateless(wharf.mcp, '2026-07-28', { ...SPEAKS, ...about });

  beforeAll(async () => {
    server = await RecordingUpstream.start({
      tools: [OCR_TOOL],
      methods: { 'server/discover': () => ({ supportedVersions: ['2026-07-28'], capabilities: { tools: {} } }) },
    });
    wharf = await startWharf({
      servers: { ocr: { url: server.url, transport: 'streamable-http', tools: OCR_FILES } },
    });
  });

  afterAll(async () => {
    await wharf?.stop();
    await server?.stop();
  });

  it('BASE-01: every result of Wharf says that it is complete, and none did before', async () => {
    expect((await client().request('files/authorizeUpload')).result?.resultType).toBe('complete');
    const before = await RawClient.connect(wharf.mcp, '2025-11-25', SPEAKS);
    expect((await before.request('files/authorizeUpload')).result).not.toHaveProperty('resultType');
  });

  it('2631-65: server/discover tells of the extension', async () => {
    const { result } = await client().request('server/discover');
    expect(result?.capabilities).toMatchObject({
      tools: {},
      extensions: { 'dev.wharf/file-transfer': { methods: expect.arrayContaining(['files/authorizeDownload']) } },
    });
  });

  it('BASE-04: Mcp-Method must name the method; Mcp-Name is not asked for', async () => {
    const meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const body = { jsonrpc: '2.0', id: 1, method: 'files/authorizeUpload', params: { _meta: meta } };
    const wrong = await client().post(body, { 'mcp-method': 'tools/list' });
    expect([wrong.status, wrong.messages[0]?.error?.code]).toEqual([400, -32020]);
    expect((await client().post(body, { 'mcp-method': 'files/authorizeUpload' })).status).toBe(200);
  });

  it('2631-55: a refusal comes with HTTP 200 and -32602', async () => {
    const answer = await client().request('files/authorizeUpload', { size: -1 });
    expect([answer.answer.status, answer.error?.code]).toEqual([200, -32602]);
  });

  it('2631-13, 2631-25, K1: a file is uploaded and handed over, and its name beside it', async () => {
    const uri = await upload(client(), F4, 'x.bin');
    const { result } = await client().call('ocr_image', { image_base64: uri });
    expect(result?.content?.[0]?.text).toBe('done');
    expect(server.lastArguments).toEqual({ image_base64: F4.toString('base64'), filename: 'x.bin' });
    expect(await download(client(), uri)).toEqual(F4);
  });

  it('BASE-15: a capability counts wherever a client can declare it', async () => {
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

  it('BASE-12: two clients that say the same are shown the same tools', async () => {
    const [one, two] = await Promise.all([client().request('tools/list'), client().request('tools/list')]);
    expect(JSON.stringify(one.result?.tools)).toBe(JSON.stringify(two.result?.tools));
  });

  it('BASE-05: what is refused has only codes of the base protocol', async () => {
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
  let server: RecordingUpstream;
  let wharf: Wharf;
  let ada: RawClient;
  let bob: RawClient;

  beforeAll(async () => {
    server = await RecordingUpstream.start({ tools: [OCR_TOOL] });
    const keys = Object.entries(KEYS).map(([name, key]) => ({
      name,
      hash: `sha256:${createHash('sha256').update(key).digest('hex')}`,
    }));
    wharf = await startWharf({
      servers: { ocr: { url: server.url, transport: 'streamable-http', tools: OCR_FILES } },
      config: { auth: { use: 'apiKeys', keys } },
    });
    ada = await RawClient.connect(wharf.mcp, '2025-11-25', { ...SPEAKS, headers: bearer(KEYS.ada) });
    bob = await RawClient.connect(wharf.mcp, '2025-11-25', { ...SPEAKS, headers: bearer(KEYS.bob) });
  });

  afterAll(async () => {
    await wharf?.stop();
    await server?.stop();
  });

  it('2631-51, X-11: another caller’s file is as unknown as one that never was', async () => {
    const uri = await upload(ada, F1);
    const foreign = await bob.request('files/authorizeDownload', { uri });
    const none = await bob.request('files/authorizeDownload', { uri: 'mcp-file://wharf/f_AAAAAAAAAAAAAAAAAAAAAA' });
    expect(foreign.error).toEqual(none.error);
    expect(foreign.error).toMatchObject({ code: -32602, data: { reason: 'fileNotFound' } });
    expect(await download(ada, uri)).toEqual(F1);
  });

  it('2631-19: and no argument either', async () => {
    const uri = await upload(ada, F1);
    const before = server.with('tools/call').length;
    expect(reasonOf(await bob.call('ocr_image', { image_base64: uri }))).toBe('fileNotFound');
    expect(server.with('tools/call')).toHaveLength(before);
  });

  it('2631-35: the address of an upload needs no credential of the MCP connection', async () => {
    const { upload: descriptor, file } = await authorizeUpload(ada);
    expect((await sendForm(descriptor, F4)).status).toBe(201);
    expect(await download(ada, file.uri)).toEqual(F4);
  });

  it('BASE-14: neither tickets nor keys are ever logged', async () => {
    const { upload: descriptor } = await authorizeUpload(ada);
    await sendForm(descriptor, F4);
    const ticket = new URL(descriptor.url).pathname.slice(3);
    expect(wharf.logged()).not.toContain(ticket);
    expect(wharf.logged()).not.toContain(KEYS.ada);
  });
});
