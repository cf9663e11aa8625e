import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sha256Url } from '../../helpers/bytes.js';
import { freePorts } from '../../helpers/gateway-process-ports.js';
import { RawClient, type RawMessage } from '../../helpers/raw-client.js';
import { F1, type Json, type Lab, lab } from './recording-lab.js';
import {
  authorizeDownload,
  authorizeUpload,
  digestValue,
  download,
  OCR_FILES,
  OCR_TOOL,
  SPEAKS,
  sendForm,
} from './sep-2631-lab.js';

/** Larger than every inline limit. */
const PDF = Buffer.concat([Buffer.from('%PDF-1.7\n'), randomBytes(700_000)]);
const BLOB = { uri: 'docs://reports/out.pdf', mimeType: 'application/pdf', blob: PDF.toString('base64') };
const HUGE = Buffer.concat([Buffer.from('%PDF-1.7\n'), randomBytes(4_300_000)]);

const TOOLS = [
  OCR_TOOL,
  {
    name: 'fixed',
    inputSchema: { type: 'object' },
    outputSchema: { type: 'object', properties: { n: { type: 'number' } } },
  },
];

/** A server that writes files, before which a gateway has this config. */
const writing = (config: Json, at?: string) =>
  lab(TOOLS, {
    ...(at && { at }),
    server: { tools: OCR_FILES },
    config,
    version: '2025-11-25',
    about: SPEAKS,
    methods: {
      'tools/call': ({ name }) =>
        name === 'fixed'
          ? { content: [{ type: 'resource', resource: BLOB }], structuredContent: { n: 1 } }
          : {
              content: [
                { type: 'text', text: 'Wrote it.' },
                { type: 'resource', resource: BLOB, annotations: { audience: ['user'] } },
              ],
            },
      'prompts/get': () => ({ messages: [{ role: 'user', content: { type: 'resource', resource: BLOB } }] }),
      'resources/read': ({ uri }) => ({
        contents: [{ ...BLOB, uri, blob: (uri === 'docs://huge' ? HUGE : PDF).toString('base64'), _meta: { x: 1 } }],
      }),
    },
  });

describe('files in results for clients of SEP-2631', () => {
  let writer: Lab;
  let client: RawClient;
  let mcp: string;

  beforeAll(async () => {
    writer = await writing({ clients: [{ match: { name: 'codex-*' }, dialects: ['sep-2631'] }] });
    ({ client } = writer);
    ({ mcp } = writer.wharf);
  });

  afterAll(() => writer?.stop());

  const fileOf = ({ result }: RawMessage) =>
    result?.content?.find(({ type }) => type === 'file')?.file as (Json & { uri: string }) | undefined;

  it('a large file is a block with its handle, and the text names it (2631-42, 2631-44, 2631-62)', async () => {
    const answer = await client.call('ocr_image', { image_base64: 'AAEC' });
    const types = answer.result?.content?.map(({ type }) => type);
    expect(types).toEqual(['text', 'text', 'file']);
    expect(fileOf(answer)).toEqual({
      uri: expect.stringMatching(/^mcp-file:\/\/wharf\/f_/),
      name: 'out.pdf',
      mimeType: 'application/pdf',
      size: PDF.length,
      digest: digestValue(PDF),
    });
    expect(answer.result?.content?.[1]).toMatchObject({
      text: expect.stringContaining(`${fileOf(answer)?.uri}`),
      annotations: { audience: ['user'] },
    });
    expect(answer.answer.text.length).toBeLessThan(3000);
    expect(JSON.stringify(answer.result?.content)).not.toContain('/d/');
  });

  it('and can be had by the methods alone (2631-50)', async () => {
    const { uri } = fileOf(await client.call('ocr_image', { image_base64: 'AAEC' })) ?? { uri: '' };
    expect(sha256Url(await download(client, uri))).toBe(sha256Url(PDF));
  });

  it('the handle goes into another tool’s argument (2631-09, K10)', async () => {
    const { uri } = fileOf(await client.call('ocr_image', { image_base64: 'AAEC' })) ?? { uri: '' };
    const { image_base64: sent } = await writer.sent('ocr_image', { image_base64: uri });
    expect(sha256Url(Buffer.from(String(sent), 'base64'))).toBe(sha256Url(PDF));
  });

  it('no block of that kind goes to a client that declared nothing (2631-43)', async () => {
    const plain = await RawClient.connect(mcp, '2025-11-25');
    const { result } = await plain.call('ocr_image', { image_base64: 'AAEC' });
    expect(result?.content?.map(({ type }) => type)).toEqual(['text', 'text', 'resource_link']);
  });

  it.each([
    ['upload only', { upload: true }],
    ['another transport', { download: true, transports: ['quic'] }],
    ['another transport, as an object', { download: {}, transports: { quic: {} } }],
    ['a word that is no yes', { download: 'yes' }],
  ])('nor to one that declared %s (2631-43)', async (_what, files) => {
    const other = await RawClient.connect(mcp, '2025-11-25', { capabilities: { files } });
    expect(fileOf(await other.call('ocr_image', { image_base64: 'AAEC' }))).toBeUndefined();
  });

  it('`output` is what download used to be called (2631o-04)', async () => {
    const older = await RawClient.connect(mcp, '2025-06-18', { capabilities: { files: { output: true } } });
    expect(fileOf(await older.call('ocr_image', { image_base64: 'AAEC' }))?.size).toBe(PDF.length);
  });

  it.each([{ download: {} }, { download: {}, transports: { https: { rangeDownload: true } } }])(
    '%j says it by an object, as most capabilities do (2631o-04)',
    async (files) => {
      const other = await RawClient.connect(mcp, '2025-11-25', { capabilities: { files } });
      expect(fileOf(await other.call('ocr_image', { image_base64: 'AAEC' }))?.size).toBe(PDF.length);
    },
  );

  it('a resource above the inline limit is file-backed contents (2631-53)', async () => {
    const { result } = await client.request('resources/read', { uri: 'docs://huge' });
    const item = (result?.contents as { content: { uri: string } }[] | undefined)?.[0];
    const uri = item?.content.uri ?? '';
    expect(item).toEqual({ uri: 'docs://huge', mimeType: 'application/pdf', content: { uri }, _meta: { x: 1 } });
    expect(sha256Url(await download(client, uri))).toBe(sha256Url(HUGE));
  });

  it('and one below it passes as it came', async () => {
    const { result } = await client.request('resources/read', { uri: 'docs://small' });
    expect((result?.contents as Json[] | undefined)?.[0]).toMatchObject({ blob: BLOB.blob });
  });

  it('a prompt message holds one block', async () => {
    const { result } = await client.request('prompts/get', { name: 'p' });
    expect(result?.messages).toEqual([
      { role: 'user', content: { type: 'file', file: expect.objectContaining({ size: PDF.length }) } },
    ]);
  });

  describe('whose MCP library knows no such block, as the operator says', () => {
    const codex = () => RawClient.connect(mcp, '2025-11-25', { name: 'codex-mcp-client' });

    it('the FileValue stands in structuredContent', async () => {
      const { result } = await (await codex()).call('ocr_image', { image_base64: 'AAEC' });
      expect(result?.content?.map(({ type }) => type)).toEqual(['text', 'text']);
      expect(result?.structuredContent).toEqual({
        files: [
          expect.objectContaining({
            uri: expect.stringMatching(/^mcp-file:/),
            size: PDF.length,
            digest: digestValue(PDF),
          }),
        ],
      });
    });

    it('but not where the tool declares what stands there (2631-71)', async () => {
      const { result } = await (await codex()).call('fixed');
      expect(result?.structuredContent).toEqual({ n: 1 });
    });

    it('and a resource is a link (2631-53)', async () => {
      const { result } = await (await codex()).request('resources/read', { uri: 'docs://huge' });
      expect((result?.contents as Json[] | undefined)?.[0]).toMatchObject({ mimeType: 'text/uri-list' });
    });
  });

  it('Codex PR 28337, step by step (K12)', async () => {
    const codex = await RawClient.connect(mcp, '2025-06-18', { name: 'codex-mcp-client' });
    // it hashes the file first, and holds the answer against that
    const about = { name: 'hello.txt', mimeType: 'text/plain', size: F1.length, digest: digestValue(F1) };
    const { file, upload } = await authorizeUpload(codex, about);
    expect(/^(?:data|file|https?):/.test(file.uri)).toBe(false);
    expect(file).toMatchObject({ size: about.size, digest: about.digest });
    // text fields, then the file; no redirect is followed
    const sent = await sendForm(upload, F1, about.name, about.mimeType);
    expect([sent.status, await sent.json()]).toEqual([201, { status: 'completed', file: { ...about, uri: file.uri } }]);
    const { result } = await codex.call('ocr_image', { image_base64: file.uri });
    expect(writer.upstream.lastArguments).toEqual({ image_base64: F1.toString('base64'), filename: 'hello.txt' });
    // every object with a URI of a scheme it does not know is a file to be had
    const structured = result?.structuredContent as { files: { uri: string; digest: Json }[] } | undefined;
    const out = structured?.files[0];
    const { file: named, download: descriptor } = await authorizeDownload(codex, out?.uri ?? '');
    expect(named.uri).toBe(out?.uri);
    const response = await fetch(descriptor.url, { redirect: 'manual', headers: { accept: '*/*' } });
    expect(response.status).toBe(200);
    expect(digestValue(Buffer.from(await response.arrayBuffer()))).toEqual(out?.digest);
  });
});

describe('behind a public address', () => {
  it('descriptors are https and keep the path in front (2631-01, 2631-08)', async () => {
    const [port] = await freePorts(1);
    const config = { publicUrl: 'https://gw.example.com/mcp-files', listen: `127.0.0.1:${port}` };
    const { client, stop } = await writing(config, `http://127.0.0.1:${port}/mcp`);
    const { upload } = await authorizeUpload(client);
    expect(upload).toMatchObject({ transport: 'https' });
    expect(upload.url).toMatch(/^https:\/\/gw\.example\.com\/mcp-files\/u\//);
    await stop();
  });
});
