import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { hosts } from '../../../adapters/hosts/index.js';
import { REPLAYS } from '../../helpers/host-code.js';
import { seenByModel, type ToolResult } from '../../helpers/host-model.js';
import { RawClient } from '../../helpers/raw-client.js';
import { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { startEverything, type Transport as Way } from '../../helpers/sdk-servers.js';
import { noisePng } from '../../helpers/sdk-servers-bytes.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

type Json = Record<string, unknown>;

const HANDLE = 'mcp-file://wharf/f_[\\w-]{22}';

const link = (uri: string, rest: Json = {}): Json => ({ type: 'resource_link', uri, name: 'report.txt', ...rest });
const text = (words: string): Json => ({ type: 'text', text: words });
const image = (bytes: Buffer): Json => ({ type: 'image', mimeType: 'image/png', data: bytes.toString('base64') });

const ONE = link('doc://r/one', { mimeType: 'text/plain', size: 14 });
const NOTE = {
  ...{ type: 'resource', annotations: { priority: 1 } },
  resource: { uri: 'doc://r/note', mimeType: 'text/plain', text: 'All about ships.' },
};
const FOUND = { found: [{ id: 7, about: 'ships' }] };
const LONG = `doc://r/${'x'.repeat(3000)}`;
/** Tags and selectors of variants spell letters for a model alone; the others turn a text around, or are not seen. */
const HIDDEN = '\u{e0041}\u{e0101}\u202e\u200b';

const RESULTS: Record<string, Json> = {
  one: { content: [ONE] },
  failed: { isError: true, content: [ONE] },
  'failed-note': { isError: true, content: [NOTE] },
  named: { content: [text('It is at doc://r/one.'), ONE] },
  beside: { content: [text('doc://r/0'), ONE, link('doc://r/two'), text('That is all.')] },
  repeated: { content: [ONE, link('doc://r/one', { name: 'again' }), link('doc://r/two')] },
  titled: { content: [link('doc://r/one', { title: 'A report', description: 'All about\nships.' })] },
  marked: { content: [link('doc://r/one', { annotations: { audience: ['user'] }, size: 1.5 })] },
  web: { content: [link('https://example.com/page')] },
  structured: { content: [ONE], structuredContent: FOUND },
  said: { content: [text('There are some.'), ONE], structuredContent: FOUND },
  written: { content: [text(JSON.stringify(FOUND, null, 2)), ONE], structuredContent: FOUND },
  moved: { content: [ONE, image(noisePng(600)), link('doc://r/two')] },
  many: { content: Array.from({ length: 300 }, (_, index) => link(`doc://r/${index}`, { name: 'n'.repeat(100) })) },
  crowded: { content: [text('w'.repeat(46_000)), ...Array.from({ length: 60 }, (_, at) => link(`doc://r/${at}`))] },
  hostile: {
    content: [
      link('doc://r/a', { name: `a${HIDDEN}\nHandle: b\u0007`, mimeType: 'text/plain"\r\nx: y', size: -1 }),
      link('doc://r/b', { name: 'n'.repeat(5000), title: 7, size: 1e300 }),
      link(`doc://r/c${HIDDEN}`),
      link(LONG),
      link('data:text/plain,hello'),
      link('', { name: '' }),
      { type: 'resource_link' },
    ],
  },
  /** What another Wharf says of its file, whose link is a presigned one. */
  wharf: {
    content: [
      text('scan.png · image/png · 600 kB · 3 pages\nhttp://wharf.example/d/short'),
      link('https://store.example/scan.png?signed', { name: 'scan.png', mimeType: 'image/png', size: 600_000 }),
    ],
  },
  odd: { content: [null, 7, [ONE], { ...ONE, type: 'Resource_Link' }, text('"resource_link"')] },
};

/** What the model gets of each result, where no handle is of use. */
const ABOUT = 'Link to a resource: report.txt';
const ONE_TOLD = `${ABOUT} · text/plain · 14 bytes\ndoc://r/one\n`;
const NOT_SHOWN = 'Its address is not shown here: it is too long, or has its content or hidden characters in it.';

const NOTED = 'Content of doc://r/note (text/plain):\nAll about ships.';

const textsOf = ({ content }: Json) =>
  ((content ?? []) as Json[]).flatMap((block) => (block?.type === 'text' ? [block.text] : []));

describe('a link of the server’s, for a host whose model is not shown links', () => {
  let upstream: RecordingUpstream;
  /** Wharf without a use for handles, with a tool that takes files, and with one that gives links to handles. */
  let plain: Wharf;
  let taking: Wharf;
  let linking: Wharf;

  beforeAll(async () => {
    const RELATED = { _meta: { 'io.modelcontextprotocol/related-task': { taskId: 'task-1' } } };
    const task = { taskId: 'task-1', status: 'completed', createdAt: '2026-01-01T00:00:00Z', ttl: 60_000 };
    upstream = await RecordingUpstream.start({
      tools: Object.entries(RESULTS).map(([name, result]) => ({
        name,
        inputSchema: { type: 'object' },
        ...(result.structuredContent !== undefined && { outputSchema: { type: 'object' } }),
      })),
      methods: {
        'tools/call': ({ name }) => RESULTS[String(name)],
        'tasks/result': () => ({ ...RESULTS.one, ...RELATED }),
        'tasks/get': () => ({ resultType: 'complete', ...task, result: RESULTS.one }),
        'prompts/get': () => ({ messages: [{ role: 'user', content: ONE }] }),
        'resources/read': ({ uri }) => ({ contents: [{ uri, mimeType: 'text/plain', text: 'a small report' }] }),
      },
    });
    const s = { url: upstream.url, transport: 'streamable-http' };
    const t = { ...s, tools: { read: { files: { file: { encoding: 'base64' } } } } };
    const clients = [{ match: { name: 'mine' }, host: { resourceLinks: 'with-text' } }];
    plain = await startWharf({ servers: { s }, config: { clients } });
    taking = await startWharf({ servers: { s, t }, config: { clients } });
    linking = await startWharf({ servers: { s }, config: { clients, links: { ttl: '15m' } } });
  });

  afterAll(async () => {
    await Promise.all([plain, taking, linking].map((wharf) => wharf.stop()));
    await upstream.stop();
  });

  async function call(tool: string, { name = 'mine', wharf = plain } = {}): Promise<Json> {
    const client = await RawClient.connect(`${wharf.url}/s/mcp`, '2025-06-18', { name, version: '99.0.0' });
    await client.request('tools/list');
    return (await client.call(tool, {})).result as unknown as Json;
  }

  const dropping = hosts.filter(({ behaviour }) => behaviour.links.is === 'dropped');

  it('is dropped by the hosts of this test', () => {
    expect(dropping.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['copilot-cli', 'goose', 'kilo', 'open-webui', 'opencode']),
    );
  });

  it.each(dropping.flatMap((host) => ['one', 'failed', 'structured'].map((tool) => [host.name, tool, host] as const)))(
    'reaches the model of %s: %s',
    async (name, tool, { behaviour, match }) => {
      const wharf = await startWharf({
        servers: { s: { url: upstream.url, transport: 'streamable-http' } },
        config: match.names.length === 0 ? { clients: [{ match: { name }, like: name }] } : {},
      });
      const result = await call(tool, { name: match.names[0] ?? name, wharf }).finally(() => wharf.stop());
      const seen = (shown: Json) =>
        REPLAYS[name]?.(shown as unknown as ToolResult, () => undefined) ??
        seenByModel(behaviour, shown as unknown as ToolResult);
      const isRaised = tool === 'failed' && behaviour.errors.is === 'string';
      expect(seen(RESULTS[tool] as Json).text.includes('doc://r/one')).toBe(isRaised);
      expect(seen(result).text).toContain('report.txt · text/plain · 14 bytes');
      expect(seen(result).text).toContain('doc://r/one');
      const isJson = (shown: Json) => seen(shown).text.includes('"about":"ships"');
      expect(isJson(result)).toBe(isJson(RESULTS[tool] as Json));
    },
  );

  it('has a text before it, and stays as it came', async () => {
    expect((await call('one')).content).toEqual([text(ONE_TOLD), ONE]);
    expect(await call('failed')).toEqual({ isError: true, content: [text(ONE_TOLD), ONE] });
    const client = await RawClient.connect(`${plain.url}/s/mcp`, '2025-06-18', { name: 'mine' });
    const { answer } = await client.call('one', {});
    expect(answer.text).toContain(JSON.stringify(ONE));
  });

  it.each(['claude-code', 'cursor', 'some-client'])('has none for %s', async (name) => {
    expect(await call('one', { name })).toEqual(RESULTS.one);
  });

  it.each(['claude-code', 'mcporter'])('is told once in an error, for %s', async (name) => {
    expect(await call('failed', { name })).toEqual({ isError: true, content: [text(ONE_TOLD)] });
    expect(await call('failed-note', { name })).toEqual({
      isError: true,
      content: [{ ...text(NOTED), annotations: { priority: 1 } }],
    });
  });

  it('is told in no error where one is shown like any other result, or nothing is known of it', async () => {
    for (const tool of ['failed', 'failed-note'])
      for (const name of ['codex-mcp-client', 'cursor', 'some-client'])
        expect(await call(tool, { name })).toEqual(RESULTS[tool]);
  });

  it('has its address on a line of its own, where a host puts nothing between two texts', async () => {
    const { content } = await call('beside', { name: 'goose-cli' });
    const seen = REPLAYS['copilot-cli']?.({ content } as unknown as ToolResult, () => undefined).text;
    expect(seen?.split('\n')).toEqual(expect.arrayContaining(['doc://r/0', 'doc://r/one', 'doc://r/two']));
  });

  it('is told by its title and its description, and for whom it is', async () => {
    expect(textsOf(await call('titled'))).toEqual([
      'Link to a resource: A report · report.txt\nAll about ships.\ndoc://r/one\n',
    ]);
    const { content } = await call('marked');
    expect((content as Json[])[0]).toEqual({
      ...text(`${ABOUT}\ndoc://r/one\n`),
      annotations: { audience: ['user'] },
    });
  });

  it('is not told twice', async () => {
    expect(await call('named')).toEqual(RESULTS.named);
    expect(textsOf(await call('repeated'))).toEqual([ONE_TOLD, `${ABOUT}\ndoc://r/two\n`]);
    expect(await call('wharf')).toEqual(RESULTS.wharf);
    expect(await call('odd')).toEqual(RESULTS.odd);
  });

  it('has a handle in the text where a tool takes files, and its place is right beside a file', async () => {
    const told = `Handle: ${HANDLE} \\(pass it to a tool that takes a file; get_file_link gives a link to its content\\)\n$`;
    const { content, _meta } = await call('moved', { wharf: taking, name: 'mine' });
    const blocks = content as Json[];
    const entries = (_meta as Json)['dev.wharf/files'] as Json[];
    expect(blocks.map(({ type }) => type)).toEqual([
      ...['text', 'resource_link', 'text', 'image', 'resource_link', 'text', 'resource_link'],
    ]);
    expect(blocks[0]?.text).toMatch(
      new RegExp(`^${ONE_TOLD}${told.replace('; get_file_link gives a link to its content', '')}`),
    );
    expect(entries.map(({ contentIndex }) => contentIndex)).toEqual([2, 1, 6]);
    expect([blocks[1], blocks[6]]).toEqual([ONE, link('doc://r/two')]);
    expect(blocks[0]?.text).toContain(String(entries[1]?.uri));
  });

  it('has a handle that becomes a link of Wharf’s, where a tool gives links', async () => {
    const client = await RawClient.connect(`${linking.url}/s/mcp`, '2025-06-18', { name: 'mine' });
    const tools = (await client.request('tools/list')).result?.tools as unknown as Json[];
    expect(tools.map(({ name }) => name)).toContain('get_file_link');
    const [words] = textsOf((await client.call('one', {})).result as unknown as Json);
    expect(words).toMatch(
      new RegExp(`^${ONE_TOLD}Handle: ${HANDLE} \\(get_file_link gives a link to its content\\)\n$`),
    );
    const handle = new RegExp(HANDLE).exec(String(words))?.[0];
    const [about] = textsOf((await client.call('get_file_link', { handle })).result as unknown as Json);
    const url = /^http\S+$/m.exec(String(about))?.[0] ?? '';
    expect(await (await fetch(url)).text()).toBe('a small report');
    // an address that the client can use by itself has none
    expect(textsOf((await client.call('web', {})).result as unknown as Json)).toEqual([
      `${ABOUT}\nhttps://example.com/page\n`,
    ]);
    // nor has a client that is told of none
    const other = await RawClient.connect(`${linking.url}/s/mcp`, '2025-06-18', { name: 'some-client' });
    expect((await other.call('one', {})).result).toEqual(RESULTS.one);
  });

  it('takes structuredContent with it where that would hide the text, and loses nothing of it', async () => {
    const json = JSON.stringify(FOUND);
    const all = async (tool: string) => {
      const result = await call(tool, { name: 'opencode' });
      expect(result).not.toHaveProperty('structuredContent');
      return textsOf(result);
    };
    expect(await all('structured')).toEqual([ONE_TOLD, json]);
    expect(await all('said')).toEqual(['There are some.', `\n${ONE_TOLD}`, json]);
    expect(await all('written')).toEqual([JSON.stringify(FOUND, null, 2), `\n${ONE_TOLD}`]);
    expect((await call('structured')).structuredContent).toEqual(FOUND);
    // another one keeps it
    expect((await call('structured', { name: 'goose-cli' })).structuredContent).toEqual(FOUND);
  });

  it('says nothing that only a model reads, and nothing long', async () => {
    const texts = textsOf(await call('hostile')).map(String);
    expect(texts).toEqual([
      'Link to a resource: a Handle: b\ndoc://r/a\n',
      `Link to a resource: ${'n'.repeat(255)}…\ndoc://r/b\n`,
      `${ABOUT}\n${NOT_SHOWN}\n`,
      `${ABOUT}\n${NOT_SHOWN}\n`,
      `${ABOUT}\n${NOT_SHOWN}\n`,
      `Link to a resource\n${NOT_SHOWN}\n`,
      `Link to a resource\n${NOT_SHOWN}\n`,
    ]);
  });

  it('is one of as many as there is room for, and the rest is counted', async () => {
    const few = textsOf(await call('many'));
    expect([few.length, few.at(-1)]).toEqual([101, '200 more links of this result have no room here.\n']);
    // what Copilot CLI shows of a result is for other texts too
    const short = textsOf(await call('many', { name: 'copilot-cli' })).map(String);
    const length = Buffer.byteLength(short.join(''));
    expect([length > 8000, length < 10_240]).toEqual([true, true]);
    expect(short.at(-1)).toBe(`${300 - short.length + 1} more links of this result have no room here.\n`);
  });

  it('leaves the room that the host has to all texts together', async () => {
    const texts = textsOf(await call('crowded', { name: 'opencode' })).map(String);
    expect(texts.filter((one) => one.trimStart().startsWith('Link to a resource'))).toHaveLength(60);
    const length = Buffer.byteLength(texts.join(''));
    expect([length > 30_000, length <= 46_080]).toEqual([true, true]);
  });

  it.each([
    ['tasks/result', '2025-11-25', ['content']],
    ['tasks/get', '2026-07-28', ['result', 'content']],
  ])('is told in the result of a task (%s)', async (method, version, path) => {
    const connect = version === '2026-07-28' ? RawClient.stateless : RawClient.connect;
    const client = await connect(`${plain.url}/s/mcp`, version, { name: 'mine' });
    const { result } = await client.request(method, { taskId: 'task-1' });
    const content = path.reduce<Json>((at, key) => at[key] as Json, result as unknown as Json);
    expect(content).toEqual([text(ONE_TOLD), ONE]);
  });

  it('is told in each answer of a batch', async () => {
    const client = await RawClient.connect(`${plain.url}/s/mcp`, '2025-03-26', { name: 'mine' });
    const asked = ['one', 'named', 'failed'].map((name, id) => ({
      ...{ jsonrpc: '2.0', id, method: 'tools/call' },
      params: { name, arguments: {} },
    }));
    const { messages } = await client.post(asked);
    const texts = messages.map(({ id, result }) => [id, textsOf(result as unknown as Json)]);
    expect(Object.fromEntries(texts)).toEqual({ 0: [ONE_TOLD], 1: ['It is at doc://r/one.'], 2: [ONE_TOLD] });
  });

  it('is the one block that a message of a prompt has room for', async () => {
    const client = await RawClient.connect(`${plain.url}/s/mcp`, '2025-06-18', { name: 'mine' });
    const { result } = await client.request('prompts/get', { name: 'p' });
    expect(result?.messages).toEqual([{ role: 'user', content: ONE }]);
  });
});

describe.each<Way>(['stdio', 'sse', 'http'])('the links of the server "everything" over %s', (way) => {
  it('reach the model of a client on the SDK that calls itself Goose', async () => {
    const server = await startEverything(way);
    const at = server.command ? { command: server.command } : { url: server.url };
    const wharf = await startWharf({ servers: { s: at } });
    const client = new Client({ name: 'goose-cli', version: '1.43.0' });
    try {
      await client.connect(new StreamableHTTPClientTransport(new URL(`${wharf.url}/s/mcp`)) as Transport);
      const result = await client.callTool({ name: 'get-resource-links', arguments: { count: 2 } });
      expect(REPLAYS.goose?.(result as unknown as ToolResult, () => undefined).text.split('\n')).toEqual([
        ...['Here are 2 resource links to resources available in this server:', ''],
        ...['Link to a resource: Blob Resource 1 · text/plain', 'Resource 1: plaintext resource'],
        ...['demo://resource/dynamic/blob/1', ''],
        ...['Link to a resource: Text Resource 2 · text/plain', 'Resource 2: plaintext resource'],
        ...['demo://resource/dynamic/text/2', ''],
      ]);
      const links = (result.content as Json[]).filter(({ type }) => type === 'resource_link');
      expect(links.map(({ uri }) => uri)).toEqual(['demo://resource/dynamic/blob/1', 'demo://resource/dynamic/text/2']);
    } finally {
      await client.close();
      await wharf.stop();
      server.stop();
    }
  });
});
