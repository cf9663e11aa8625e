import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sha256Url } from '../../helpers/bytes.js';
import { RawClient } from '../../helpers/raw-client.js';
import { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

type Json = Record<string, unknown>;

const PDF = Buffer.concat([Buffer.from('%PDF-1.7\n'), randomBytes(400_000)]);
const TOOLS = [
  {
    name: 'take',
    inputSchema: {
      type: 'object',
      properties: { file: { type: 'string', contentEncoding: 'base64' } },
      required: ['file'],
    },
  },
  { name: 'give', inputSchema: { type: 'object' } },
];

const namesOf = (result: Json | undefined) => ((result?.tools ?? []) as { name: string }[]).map(({ name }) => name);

/** As a model does it: by what it reads in the texts. */
function readIn(result: Json | undefined): { handle: string; link: string } {
  const text = ((result?.content ?? []) as Json[]).map((block) => block.text ?? '').join('\n');
  return {
    handle: /mcp-file:\/\/[\w-]+\/f_[\w-]{22}/.exec(text)?.[0] ?? '',
    link: /http\S+\/[du]\/[\w-]{43}/.exec(text)?.[0] ?? '',
  };
}

describe.each([
  ['the same gatewayId', 'wharf'],
  ['another gatewayId', 'inner'],
])('a Wharf behind a Wharf, with %s and nothing else configured (BR-14)', (_what, gatewayId) => {
  let server: RecordingUpstream;
  let inner: Wharf;
  let outer: Wharf;

  beforeAll(async () => {
    const blob = { uri: 'docs://out.pdf', mimeType: 'application/pdf', blob: PDF.toString('base64') };
    server = await RecordingUpstream.start({
      tools: TOOLS,
      methods: { 'tools/call': () => ({ content: [{ type: 'resource', resource: blob }] }) },
    });
    inner = await startWharf({
      servers: { s: { url: server.url, transport: 'streamable-http' } },
      config: { gatewayId },
    });
    outer = await startWharf({ servers: { inner: { url: inner.mcp } } });
  });

  afterAll(async () => {
    await outer?.stop();
    await inner?.stop();
    await server?.stop();
  });

  const versions = ['2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'];
  const clientOf = async (version: string) =>
    version < '2026' ? RawClient.connect(outer.mcp, version) : RawClient.stateless(outer.mcp, version, {});

  it.each(versions)('shows the tools of the outer one alone, under their own names, on %s', async (version) => {
    const client = await clientOf(version);
    const { result } = await client.request('tools/list');
    expect(namesOf(result)).toEqual(['take', 'give', 'request_file_upload', 'get_file_link']);
    expect(JSON.stringify(result)).not.toContain('wharf_');
  });

  it.each(versions)('takes what a model uploads by them, on %s', async (version) => {
    const client = await clientOf(version);
    await client.request('tools/list');
    const offer = readIn((await client.call('request_file_upload', { name: 'a.bin' })).result);
    expect(offer.link.startsWith(outer.url)).toBe(true);
    const bytes = randomBytes(5000);
    expect((await fetch(offer.link, { method: 'PUT', body: new Uint8Array(bytes) })).status).toBe(201);
    const { result } = await client.call('take', { file: offer.handle });
    expect(result?.isError).toBeUndefined();
    expect(sha256Url(Buffer.from(String(server.lastArguments.file), 'base64'))).toBe(sha256Url(bytes));
  });

  it('takes what it has given, and gives new links for it', async () => {
    const client = await clientOf('2025-06-18');
    await client.request('tools/list');
    const given = readIn((await client.call('give')).result);
    const { result } = await client.call('take', { file: given.handle });
    expect([given, result]).toEqual([given, expect.not.objectContaining({ isError: true })]);
    expect(sha256Url(Buffer.from(String(server.lastArguments.file), 'base64'))).toBe(sha256Url(PDF));
    const again = readIn((await client.call('get_file_link', { handle: given.handle })).result);
    expect(sha256Url(Buffer.from(await (await fetch(again.link)).arrayBuffer()))).toBe(sha256Url(PDF));
  });

  it('offers an upload that works to a call that lacks its file', async () => {
    const client = await clientOf('2025-06-18');
    await client.request('tools/list');
    for (const file of [undefined, '/home/me/a.bin']) {
      const offer = readIn((await client.call('take', { file })).result);
      expect(offer.link.startsWith(outer.url)).toBe(true);
      expect((await fetch(offer.link, { method: 'PUT', body: 'words' })).status).toBe(201);
      expect((await client.call('take', { file: offer.handle })).result?.isError).toBeUndefined();
      expect(Buffer.from(String(server.lastArguments.file), 'base64').toString()).toBe('words');
    }
  });

  it('tells programs of the outer one’s files only, and never that a tool is Wharf’s', async () => {
    const client = await clientOf('2025-06-18');
    const { result } = await client.request('tools/list');
    const tools = (result?.tools ?? []) as { name: string; _meta?: Json }[];
    expect(tools.filter(({ _meta }) => _meta?.['dev.wharf/tool']).map(({ name }) => name)).toEqual([
      'request_file_upload',
      'get_file_link',
    ]);
  });
});

describe('tools that a server says are Wharf’s', () => {
  const plain = (name: string) => ({ name, inputSchema: { type: 'object' } });
  const marked = (name: string) => ({ ...plain(name), _meta: { 'dev.wharf/tool': true } });

  it.each([
    ['last', [plain('a'), plain('b'), marked('x'), marked('y')], ['a', 'b']],
    ['first', [marked('x'), marked('y'), plain('a'), plain('b')], ['a', 'b']],
    ['between', [plain('a'), marked('x'), marked('y'), plain('b'), marked('z')], ['a', 'b']],
    ['around', [marked('x'), plain('a'), marked('y')], ['a']],
    ['all', [marked('x'), marked('y')], []],
    ['half', [plain('a'), { ...plain('b'), _meta: { 'dev.wharf/tool': 'yes', own: 1 } }], ['a', 'b']],
  ])('are not shown where they stand %s', async (_where, tools, left) => {
    const upstream = await RecordingUpstream.start({ tools });
    const servers = {
      s: { url: upstream.url, transport: 'streamable-http', tools: { a: { files: { f: { encoding: 'base64' } } } } },
    };
    const wharf = await startWharf({ servers });
    try {
      const client = await RawClient.connect(wharf.mcp);
      const { result } = await client.request('tools/list');
      const own = left.includes('a') ? ['request_file_upload', 'get_file_link'] : [];
      expect(namesOf(result)).toEqual([...left, ...own]);
    } finally {
      await wharf.stop();
      await upstream.stop();
    }
  });
});
