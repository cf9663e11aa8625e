import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RawClient } from '../../helpers/raw-client.js';
import { RpcError } from '../../helpers/recording-upstream.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';
import { connect, F1, F4, type Lab, lab } from './recording-lab.js';
import { authorizeDownload, digestValue, download, reasonOf, SPEAKS, upload } from './sep-2631-lab.js';

const FIXTURE = join(import.meta.dirname, '../../../../test/helpers/scripted-stdio.fixture.mjs');

describe.each(['2025-11-25', '2026-07-28'])('a server of SEP-2631 behind stdio, for a client of %s', (version) => {
  let wharf: Wharf;
  let client: RawClient;

  beforeAll(async () => {
    wharf = await startWharf({
      servers: { s: { command: [process.execPath, FIXTURE, 'naming', 'http://127.0.0.1:9/f?sig=s3cr3t'] } },
    });
    client = await connect(wharf.mcp, version, SPEAKS);
  });

  afterAll(() => wharf?.stop());

  it('is asked on the client’s own channel, and no http address of its is followed (2631-59)', async () => {
    const answer = await client.call('make');
    expect(answer.result).toMatchObject({ isError: true, content: [{ text: 'kept' }, { type: 'text' }] });
    expect(reasonOf(answer)).toBe('unreachable');
    expect(answer.answer.text).not.toContain('s3cr3t');
  });

  it('in neither direction (2631-59)', async () => {
    const answer = await client.call('make', { doc: await upload(client, F4) });
    expect(reasonOf(answer)).toBe('unreachable');
    expect(answer.answer.text).not.toContain('s3cr3t');
  });

  it('and for its resources, when a client takes them for files (2631-70)', async () => {
    expect(await download(client, 'custom://greeting')).toEqual(F1);
  });
});

describe.each(['2025-11-25', '2026-07-28'])('bytes of a resource behind stdio, for a client of %s', (version) => {
  it.each([
    ['one byte', 1],
    ['as many as stay in a message', 40_000],
    ['more', 5_000_000],
  ])('are the file that a client gets for it: %s (2631-70)', async (_what, size) => {
    const command = [process.execPath, FIXTURE, 'linking', String(size)];
    const wharf = await startWharf({ servers: { s: { command } } });
    const client = await connect(wharf.mcp, version, SPEAKS);
    const bytes = Buffer.alloc(size, 'stdio ');
    const { file } = await authorizeDownload(client, 'doc://stdio/a.bin');
    expect(file).toMatchObject({ size, digest: digestValue(bytes) });
    expect((await download(client, 'doc://stdio/a.bin')).equals(bytes)).toBe(true);
    await wharf.stop();
  });

  it('are the file as well where they are longer than a message may be without its files (2631-70)', async () => {
    const command = [process.execPath, FIXTURE, 'linking', '100000'];
    const limits = { response: '64KiB', inlineResource: '1KiB' };
    const wharf = await startWharf({ servers: { s: { command } }, config: { limits } });
    const client = await connect(wharf.mcp, version, SPEAKS);
    expect((await download(client, 'doc://stdio/a.bin')).equals(Buffer.alloc(100_000, 'stdio '))).toBe(true);
    await wharf.stop();
  });

  it('are refused where they are too long for Wharf to keep, and never told to be none (2631-70)', async () => {
    const command = [process.execPath, FIXTURE, 'linking', '100000'];
    const limits = { file: '64KiB', inlineResource: '1KiB' };
    const wharf = await startWharf({ servers: { s: { command } }, config: { limits } });
    const client = await connect(wharf.mcp, version, SPEAKS);
    const { error, result } = await client.request('files/authorizeDownload', { uri: 'doc://stdio/a.bin' });
    expect(result).toBeUndefined();
    expect(error?.data).toMatchObject({ limit: 'limits.file', allowed: 65_536 });
    await wharf.stop();
  });
});

describe('resources that a client takes for files', () => {
  let server: Lab;
  let client: RawClient;
  let embedded: Record<string, unknown>;

  beforeAll(async () => {
    server = await lab([], {
      version: '2025-11-25',
      about: SPEAKS,
      methods: {
        'tools/call': () => ({ content: [{ type: 'resource', resource: embedded }] }),
        'resources/read': ({ uri }) => {
          if (uri === 'custom://x/a.bin') {
            return { contents: [{ uri, mimeType: 'application/x-thing', blob: F4.toString('base64') }] };
          }
          throw new RpcError(-32002, 'Resource not found');
        },
      },
    });
    ({ client } = server);
  });

  afterAll(() => server?.stop());

  it('are authorized under their own URI (2631-70)', async () => {
    const { file } = await authorizeDownload(client, 'custom://x/a.bin');
    expect(file).toEqual({
      uri: 'custom://x/a.bin',
      name: 'a.bin',
      mimeType: 'application/x-thing',
      size: 6,
      digest: digestValue(F4),
    });
    expect(await download(client, 'custom://x/a.bin')).toEqual(F4);
  });

  it.each([
    ['a text', { mimeType: 'text/plain', text: 'Hello world!' }, F1],
    ['a short blob', { mimeType: 'application/x-thing', blob: F4.toString('base64') }, F4],
  ])('what stood in a result can be had as well, though not read: %s (2631-70)', async (_what, content, bytes) => {
    embedded = { uri: 'custom://shown', ...content };
    const result = await client.call('show');
    expect(result.result?.content).toEqual([{ type: 'resource', resource: embedded }]);
    expect(await download(client, 'custom://shown')).toEqual(bytes);
  });

  it('but not where no client asks for files (2631-70)', async () => {
    embedded = { uri: 'custom://unasked', text: 'a' };
    await (await RawClient.connect(server.wharf.mcp)).call('show');
    const { error } = await client.request('files/authorizeDownload', { uri: 'custom://unasked' });
    expect(error).toMatchObject({ data: { reason: 'fileNotFound' } });
  });

  it.each(['custom://none', 'https://example.com/a'])('%s is none of the server’s (2631-70)', async (uri) => {
    const { error } = await client.request('files/authorizeDownload', { uri });
    expect(error).toMatchObject({ code: -32602, data: { reason: 'fileNotFound' } });
  });

  it('a file handle is never looked for among them (2631-10)', async () => {
    const before = server.upstream.with('resources/read').length;
    await client.request('files/authorizeDownload', { uri: 'mcp-file://other/1' });
    expect(server.upstream.with('resources/read')).toHaveLength(before);
  });
});
