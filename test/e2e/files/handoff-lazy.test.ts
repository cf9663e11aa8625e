import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { keyHash, sha256 } from '../../helpers/bytes.js';
import { RawClient } from '../../helpers/raw-client.js';
import { RecordingUpstream, RpcError } from '../../helpers/recording-upstream.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';
import { announced } from './handoff-lab.js';

const TEXT = { type: 'string' };
const SMALL = Buffer.from('a small report');
/** Over limits.inlineResource. */
const LARGE = Buffer.alloc(5_000_000, 'a large report. ');
const FIXTURE = fileURLToPath(new URL('../../../../test/helpers/scripted-stdio.fixture.mjs', import.meta.url));

const link = (uri: string, rest = {}) => ({ type: 'resource_link', uri, name: 'report.txt', ...rest });
const RESULTS: Record<string, Record<string, unknown>> = {
  small: { content: [{ type: 'text', text: 'here' }, link('doc://r/small', { mimeType: 'text/plain', size: 14 })] },
  large: { content: [link('doc://r/large')] },
  text: { content: [link('doc://r/text')] },
  same: { content: [link('doc://r/small'), link('doc://r/small')] },
  moved: {
    content: [
      { type: 'image', mimeType: 'image/png', data: Buffer.alloc(600_000, 1).toString('base64') },
      link('doc://r/small'),
    ],
    _meta: { theirs: 1 },
  },
  posing: {
    content: [
      link('doc://r/small', { name: '../../.ssh/a\u202Etxt\r\n.exe', mimeType: 'text/plain"\r\nx: y' }),
      link('doc://r/large', { name: '..', mimeType: 'text/plain; charset=utf-8' }),
    ],
  },
  web: { content: [link('https://example.com/page')] },
  data: { content: [link('data:text/plain,hello'), link(`doc://r/${'x'.repeat(3000)}`)] },
  changing: { content: [link('doc://r/changing')] },
  gone: { content: [link('doc://r/gone')] },
  noted: { content: [link('doc://r/noted')] },
  second: { content: [link('doc://r/second')] },
  folder: { content: [link('doc://r/folder')] },
  none: { content: [{ type: 'text', text: 'the word resource_link, "resource_link"' }] },
};

const KEYS = ['alice-key-0123456789abcdef', 'bob-key-0123456789abcdefgh'] as const;

describe('a resource that a result only links to', () => {
  let giving: RecordingUpstream;
  let taking: RecordingUpstream;
  let wharf: Wharf;
  let small = SMALL;
  /** Reads of the resource that is another each time. */
  let changed = 0;

  beforeAll(async () => {
    giving = await RecordingUpstream.start({
      tools: Object.keys(RESULTS).map((name) => ({ name, inputSchema: { type: 'object' } })),
      methods: {
        'tools/call': ({ name }) => RESULTS[String(name)],
        'resources/read': ({ uri }) => {
          const content = { uri, mimeType: 'text/plain' };
          if (uri === 'doc://r/small') return { contents: [{ ...content, blob: small.toString('base64') }] };
          if (uri === 'doc://r/large') return { contents: [{ ...content, blob: LARGE.toString('base64') }] };
          if (uri === 'doc://r/changing') return { contents: [{ ...content, text: `read ${changed++}` }] };
          const note = { uri: `${uri}/note`, mimeType: 'text/plain', text: 'read me first' };
          if (uri === 'doc://r/noted') return { contents: [note, { ...content, blob: LARGE.toString('base64') }] };
          const long = { ...note, text: undefined, blob: LARGE.toString('base64') };
          if (uri === 'doc://r/second') return { contents: [long, { ...content, blob: SMALL.toString('base64') }] };
          if (uri === 'doc://r/folder') return { contents: [note, { ...note, uri: `${uri}/other` }] };
          if (uri === 'doc://r/text') return { contents: [{ ...content, text: 'Grüße' }] };
          throw new RpcError(-32002, 'Resource not found');
        },
      },
    });
    taking = await RecordingUpstream.start({
      tools: [{ name: 'read', inputSchema: { type: 'object', properties: { file: TEXT, name: TEXT } } }],
    });
    const files = { file: { encoding: 'base64', name: 'name' } };
    wharf = await startWharf({
      servers: {
        a: { url: giving.url, transport: 'streamable-http' },
        secret: { url: giving.url, transport: 'streamable-http' },
        stdio: { command: [process.execPath, FIXTURE, 'linking', '5000000'] },
        b: { url: taking.url, transport: 'streamable-http', accepts: '10MiB', tools: { read: { files } } },
      },
      config: {
        handoff: [{ from: 'secret', to: '*', allow: false }],
        auth: { use: 'apiKeys', keys: KEYS.map((key) => ({ name: key.slice(0, 3), hash: keyHash(key) })) },
      },
    });
  });

  afterAll(async () => {
    await wharf.stop();
    await giving.stop();
    await taking.stop();
  });

  beforeEach(() => {
    small = SMALL;
  });

  const client = (server: string, key: string = KEYS[0]) =>
    RawClient.connect(`${wharf.url}/${server}/mcp`, '2025-06-18', { headers: { authorization: `Bearer ${key}` } });
  const call = async (server: string, tool: string, args = {}, key?: string) =>
    (await (await client(server, key)).call(tool, args)).result;
  const reads = () => giving.with('resources/read').length;
  const taken = () => Buffer.from(String(taking.lastArguments.file), 'base64');

  it('has a handle for programs, and is not read; the result is else as it came (HO-04)', async () => {
    const before = reads();
    const result = await call('a', 'small');
    expect(result?.content).toEqual(RESULTS.small?.content);
    expect(result?._meta).toEqual({
      'dev.wharf/files': [
        {
          uri: expect.stringMatching(/^mcp-file:\/\/wharf\/f_/),
          name: 'report.txt',
          mimeType: 'text/plain',
          size: 14,
          contentIndex: 1,
        },
      ],
    });
    expect(reads()).toBe(before);
  });

  it('has the name of a file there, not a path, and no type that cannot be one, whatever its server calls it', async () => {
    const result = await call('a', 'posing');
    expect(result?.content).toEqual(RESULTS.posing?.content);
    const uri = expect.stringMatching(/^mcp-file:/);
    expect(result?._meta).toEqual({
      'dev.wharf/files': [
        { uri, name: 'atxt.exe', contentIndex: 0 },
        { uri, mimeType: 'text/plain; charset=utf-8', contentIndex: 1 },
      ],
    });
  });

  it('stays the server’s own link, under which its client reads and streams it through Wharf (Q4)', async () => {
    const result = await call('a', 'small');
    const uri = String(result?.content?.[1]?.uri);
    expect(uri).toBe('doc://r/small');
    const reader = await RawClient.connect(`${wharf.url}/a/mcp`, '2025-06-18', {
      headers: { authorization: `Bearer ${KEYS[0]}` },
      capabilities: { resourceStreaming: {} },
    });
    const read = await reader.request('resources/read', { uri });
    expect(read.result).toEqual({ contents: [{ uri, mimeType: 'text/plain', blob: SMALL.toString('base64') }] });
    const streamed = await reader.open('resources/stream', { uri }, { accept: '*/*' });
    expect(Buffer.from(await streamed.arrayBuffer()).toString()).toBe(SMALL.toString());
  });

  it.each([
    ['small', SMALL],
    ['large', LARGE],
    ['text', Buffer.from('Grüße')],
  ])('is read from its server when it is used: %s (HO-04)', async (tool, bytes) => {
    const { uri } = announced(await call('a', tool));
    const before = reads();
    expect(await call('b', 'read', { file: uri })).not.toHaveProperty('isError');
    expect(sha256(taken())).toBe(sha256(bytes));
    expect(taking.lastArguments.name).toMatch(/\.txt$|report|small|large|text/);
    expect(reads()).toBe(before + 1);
  });

  it.each([
    ['behind a note', 'noted', LARGE],
    ['behind a longer file', 'second', SMALL],
  ])('is the content with its URI, where the server gives several: %s (HO-04)', async (_where, tool, bytes) => {
    await call('b', 'read', { file: announced(await call('a', tool)).uri });
    expect(sha256(taken())).toBe(sha256(bytes));
  });

  it('is none of several contents without its URI, and the other server is not asked (HO-04)', async () => {
    const before = taking.with('tools/call').length;
    const result = await call('b', 'read', { file: announced(await call('a', 'folder')).uri });
    expect(result).toMatchObject({ isError: true, _meta: { 'dev.wharf/fileError': { reason: 'unreachable' } } });
    expect(result?.content?.[0]?.text).toMatch(/gave 2 contents for this resource, and none of them has its URI/);
    expect(taking.with('tools/call')).toHaveLength(before);
  });

  it('stands for what was read first, for ever (HO-05)', async () => {
    const { uri } = announced(await call('a', 'small'));
    await call('b', 'read', { file: uri });
    const before = reads();
    small = Buffer.from('something else by now');
    await call('b', 'read', { file: uri });
    expect(taken().toString()).toBe(SMALL.toString());
    expect(reads()).toBe(before);
    await call('b', 'read', { file: announced(await call('a', 'small')).uri });
    expect(taken().toString()).toBe('something else by now');
  });

  it('stands for nothing before that: what it is then, is what the server gives at its first use (HO-05)', async () => {
    const { uri, size } = announced(await call('a', 'small'));
    expect(size).toBe(SMALL.length);
    // the size that the link told was the server's claim, and no byte has been seen
    small = Buffer.from('changed between the result and the use of it');
    await call('b', 'read', { file: uri });
    expect(taken().toString()).toBe(small.toString());
    const first = small;
    small = Buffer.from('and once more');
    await call('b', 'read', { file: uri });
    expect(taken().toString()).toBe(first.toString());
  });

  it('is read once for two who use it first at once, since the server may give each something else (HO-05)', async () => {
    const { uri } = announced(await call('a', 'changing'));
    const clients = await Promise.all([client('b'), client('b')]);
    const answers = await Promise.all(clients.map((one) => one.call('read', { file: uri })));
    expect(answers.map(({ result }) => result?.isError)).toEqual([undefined, undefined]);
    expect(changed).toBe(1);
    const handed = taking.with('tools/call').slice(-2);
    const files = handed.map(({ params }) => (params.arguments as { file: string }).file);
    expect(new Set(files).size).toBe(1);
    await call('b', 'read', { file: uri });
    expect(taking.lastArguments.file).toBe(files[0]);
  });

  it('is one file for two who read it at once (HO-14)', async () => {
    const { uri } = announced(await call('a', 'small'));
    const clients = await Promise.all([client('b'), client('b')]);
    const answers = await Promise.all(clients.map((one) => one.call('read', { file: uri })));
    expect(answers.map(({ result }) => result?.isError)).toEqual([undefined, undefined]);
  });

  it('that is gone by then refuses the call, and the other server is not asked (HO-04)', async () => {
    const { uri } = announced(await call('a', 'gone'));
    const before = taking.with('tools/call').length;
    const result = await call('b', 'read', { file: uri });
    expect(result).toMatchObject({ isError: true, _meta: { 'dev.wharf/fileError': { reason: 'unreachable' } } });
    expect(result?.content?.[0]?.text).toMatch(/could not be read from the server "a".*Resource not found/);
    expect(taking.with('tools/call')).toHaveLength(before);
  });

  it('is no other caller’s (HO-06)', async () => {
    const { uri } = announced(await call('a', 'small'));
    const before = reads();
    const result = await call('b', 'read', { file: uri }, KEYS[1]);
    expect(result).toMatchObject({ isError: true, _meta: { 'dev.wharf/fileError': { reason: 'fileNotFound' } } });
    expect(reads()).toBe(before);
  });

  it('is not even read where the operator forbids to hand it over (HO-07)', async () => {
    const { uri } = announced(await call('secret', 'small'));
    const before = reads();
    const result = await call('b', 'read', { file: uri });
    expect(result).toMatchObject({ isError: true, _meta: { 'dev.wharf/fileError': { reason: 'handoffDenied' } } });
    expect(reads()).toBe(before);
  });

  it('of a stdio server is read in a session of its own (HO-04)', async () => {
    const { uri } = announced(await call('stdio', 'link'));
    await call('b', 'read', { file: uri });
    expect(sha256(taken())).toBe(sha256(Buffer.alloc(5_000_000, 'stdio ')));
  });

  it('is one handle where it stands twice, and keeps its place behind blocks that became several', async () => {
    const twice = (await call('a', 'same'))?._meta as Record<string, { uri: string; contentIndex: number }[]>;
    const [one, two] = twice['dev.wharf/files'] ?? [];
    expect([one?.contentIndex, two?.contentIndex]).toEqual([0, 1]);
    expect(one?.uri).toBe(two?.uri);
    const moved = await call('a', 'moved');
    const { theirs, 'dev.wharf/files': list } = (moved?._meta ?? {}) as Record<string, { contentIndex: number }[]>;
    expect(theirs).toBe(1);
    const last = moved?.content?.[list?.[1]?.contentIndex ?? -1];
    expect(last).toMatchObject({ type: 'resource_link', uri: 'doc://r/small' });
  });

  it.each(['web', 'data', 'none'])('nothing is announced where there is nothing to be read: %s', async (tool) => {
    expect(await call('a', tool)).toEqual(RESULTS[tool]);
  });

  it('a handle of it gives a link, and its bytes, like any other', async () => {
    const { uri } = announced(await call('a', 'small'));
    const result = await call('b', 'get_file_link', { handle: uri });
    const { url } = (result?.structuredContent ?? {}) as { url: string };
    const answer = await fetch(url);
    expect(await answer.text()).toBe(SMALL.toString());
  });
});

describe('a server that knows no sessions (HO-04)', () => {
  it('is read with a request that says all by itself', async () => {
    const server = await RecordingUpstream.start({
      tools: [
        { name: 'link', inputSchema: { type: 'object' } },
        { name: 'read', inputSchema: { type: 'object', properties: { file: TEXT } } },
      ],
      methods: {
        initialize: () => {
          throw new RpcError(-32022, 'Unsupported protocol version');
        },
        'tools/call': ({ name }) => (name === 'link' ? { content: [link('doc://r/é')] } : { content: [] }),
        'resources/read': ({ uri }) => ({ contents: [{ uri, mimeType: 'text/plain', text: 'stateless' }] }),
      },
    });
    const tools = { read: { files: { file: { encoding: 'text' } } } };
    const wharf = await startWharf({ servers: { s: { url: server.url, transport: 'streamable-http', tools } } });
    const client = RawClient.stateless(wharf.mcp, '2026-07-28', {});
    const { uri } = announced((await client.call('link')).result);
    const { result } = await client.call('read', { file: uri });
    expect(result).not.toHaveProperty('isError');
    expect(server.lastArguments).toEqual({ file: 'stateless' });
    await wharf.stop();
    await server.stop();
  });
});
