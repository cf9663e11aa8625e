import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sha256Url } from '../../helpers/bytes.js';
import { RawClient } from '../../helpers/raw-client.js';
import { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { filesystemServer } from '../../helpers/sdk-servers.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';
import { ROOT } from '../cli-process.js';
import { connect, type Json } from './recording-lab.js';
import { authorizeDownload, download, OCR_FILES, OCR_TOOL, SPEAKS, upload } from './sep-2631-lab.js';

const PDF = Buffer.concat([Buffer.from('%PDF-1.7\n'), randomBytes(700_000)]);
const HUGE = Buffer.concat([Buffer.from('%PDF-1.7\n'), randomBytes(4_300_000)]);

/** What takes the file's name is known by the inner one's config alone. */
const TAGGED = {
  name: 'tag',
  inputSchema: {
    type: 'object',
    properties: { scan: { type: 'string' }, label: { type: 'string' }, note: { type: 'string' } },
    required: ['scan'],
  },
};
const TAGGED_FILES = { tag: { files: { scan: { encoding: 'base64', name: 'label' } } } };

/** The outer gateway knows of the inner one only its address. */
describe('two gateways in a row', () => {
  let server: RecordingUpstream;
  let inner: Wharf;
  let outer: Wharf;

  beforeAll(async () => {
    const blob = { uri: 'docs://reports/out.pdf', mimeType: 'application/pdf', blob: PDF.toString('base64') };
    server = await RecordingUpstream.start({
      tools: [OCR_TOOL, TAGGED],
      methods: {
        'tools/call': () => ({ content: [{ type: 'resource', resource: blob }] }),
        'resources/read': ({ uri }) => ({ contents: [{ ...blob, uri, blob: HUGE.toString('base64') }] }),
      },
    });
    inner = await startWharf({
      servers: {
        ocr: {
          url: server.url,
          transport: 'streamable-http',
          accepts: '20MiB',
          tools: { ...OCR_FILES, ...TAGGED_FILES },
        },
      },
    });
    outer = await startWharf({ servers: { inner: { url: inner.mcp } } });
  });

  afterAll(async () => {
    await outer?.stop();
    await inner?.stop();
    await server?.stop();
  });

  it.each([
    ['small', 6],
    ['larger than any message', 6_000_000],
  ])('a %s file reaches the server behind both (BR-14)', async (_what, size) => {
    const client = await RawClient.connect(outer.mcp, '2025-11-25');
    const bytes = randomBytes(size);
    const { result } = await client.call('ocr_image', { image_base64: await upload(client, bytes, 'x.bin') });
    expect(result?.isError).toBeUndefined();
    const { image_base64: sent } = server.lastArguments;
    expect(sha256Url(Buffer.from(String(sent), 'base64'))).toBe(sha256Url(bytes));
  });

  it('how to pass a file is said once (BR-14)', async () => {
    const client = await RawClient.connect(outer.mcp, '2025-11-25');
    const { result } = await client.request('tools/list');
    const tool = (result?.tools as Json[] | undefined)?.find(({ name }) => name === 'ocr_image');
    expect(JSON.stringify(tool).match(/Do not type base64/g)).toHaveLength(1);
  });

  it('the name comes through where the file was uploaded (BR-14)', async () => {
    const client = await RawClient.connect(outer.mcp, '2025-11-25');
    await client.call('ocr_image', { image_base64: await upload(client, randomBytes(6_000_000), 'scan.bin') });
    expect(server.lastArguments.filename).toBe('scan.bin');
  });

  it.each([
    ['small', 6],
    ['larger than any message', 6_000_000],
  ])(
    'and the name of a %s file reaches an argument that only the inner one knows as its place',
    async (_what, size) => {
      const client = await RawClient.connect(outer.mcp, '2025-11-25');
      await client.call('tag', { scan: await upload(client, randomBytes(size), 'scan.bin') });
      expect(server.lastArguments).toMatchObject({ label: 'scan.bin' });
      expect(server.lastArguments).not.toHaveProperty('note');
      await client.call('tag', { scan: await upload(client, randomBytes(6), 'scan.bin'), label: 'mine' });
      expect(server.lastArguments).toMatchObject({ label: 'mine' });
    },
  );

  it.each([
    ['2025-11-25', true],
    ['2026-07-28', true],
    ['2025-11-25', false],
  ])(
    'a file in a result comes through both, for a client of %s that declares it: %s (BR-14)',
    async (version, speaks) => {
      const about = speaks ? SPEAKS : {};
      const client = await connect(outer.mcp, version, about);
      const { result } = await client.call('ocr_image', { image_base64: 'AAEC' });
      expect(result?.isError).toBeUndefined();
      const files = (result?._meta as { 'dev.wharf/files': { uri: string; url: string }[] } | undefined)?.[
        'dev.wharf/files'
      ];
      expect(files?.[0]?.url.startsWith(`${outer.url}/d/`)).toBe(true);
      expect(sha256Url(await download(client, files?.[0]?.uri ?? ''))).toBe(sha256Url(PDF));
      const types = result?.content?.map(({ type }) => type);
      expect(types?.at(-1)).toBe(speaks ? 'file' : 'resource_link');
      // what the inner one wrote beside it names what the outer one knows
      const handles = new Set(JSON.stringify(result?.content).match(/mcp-file:\/\/wharf\/f_[\w-]{22}/g));
      expect([...handles].filter((handle) => handle !== files?.[0]?.uri)).toEqual([]);
    },
  );

  it('a large resource is a link for a client that knows no handles (BR-14, 2631-53)', async () => {
    const client = await RawClient.connect(outer.mcp, '2025-11-25');
    const { result } = await client.request('resources/read', { uri: 'docs://huge' });
    const item = (result?.contents as Json[] | undefined)?.[0];
    expect(item).toMatchObject({ uri: 'docs://huge', mimeType: 'text/uri-list' });
    const bytes = Buffer.from(await (await fetch(String(item?.text))).arrayBuffer());
    expect(sha256Url(bytes)).toBe(sha256Url(HUGE));
  });

  it.each(['2025-11-25', '2026-07-28'])(
    'a large resource can be downloaded by its URI, for %s (BR-14)',
    async (version) => {
      const client = await connect(outer.mcp, version, SPEAKS);
      const { file, download: descriptor } = await authorizeDownload(client, 'docs://reports/huge.pdf');
      expect(file).toMatchObject({ uri: 'docs://reports/huge.pdf', name: 'huge.pdf', mimeType: 'application/pdf' });
      const bytes = Buffer.from(await (await fetch(descriptor.url)).arrayBuffer());
      expect(sha256Url(bytes)).toBe(sha256Url(HUGE));
    },
  );
});

/** As where the servers of a desktop host's file, with Wharf in front of each, are given to another Wharf. */
describe('a gateway in front of `wharf stdio`', () => {
  let folder: string;
  let outer: Wharf;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'wharf-two-'));
    await writeFile(join(folder, 'out.pdf'), PDF);
    const command = filesystemServer(folder).command ?? [];
    const inner = [process.execPath, `${ROOT}dist/gateway/main.js`, 'stdio', '--', ...command];
    outer = await startWharf({ servers: { inner: { command: inner } } });
  });

  afterAll(async () => {
    await outer?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it('passes on the link of a file that it may not fetch itself (BR-14)', async () => {
    const client = await RawClient.connect(outer.mcp, '2025-11-25');
    const { result } = await client.call('read_media_file', { path: join(folder, 'out.pdf') });
    expect(result?.isError).toBeUndefined();
    expect(JSON.stringify(result?.content)).not.toContain('resources/stream');
    expect(result?.content?.map(({ type }) => type)).toEqual(['text', 'resource_link']);
    const link = /http:\/\/127\.0\.0\.1:\d+\/d\/[\w-]+/.exec(String(result?.content?.[1]?.uri))?.[0];
    const bytes = Buffer.from(await (await fetch(String(link))).arrayBuffer());
    expect(sha256Url(bytes)).toBe(sha256Url(PDF));
  });
});
