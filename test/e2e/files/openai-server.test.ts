import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RawClient } from '../../helpers/raw-client.js';
import { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

const text = { type: 'string' };
const FILE = {
  type: 'object',
  properties: { download_url: text, file_id: text, mime_type: text, file_name: text },
  required: ['download_url', 'file_id'],
};
const TOOLS = [
  {
    name: 'read_scan',
    _meta: { 'openai/fileParams': ['scan', 'gone', 'lang', 7], 'openai/outputTemplate': 'ui://x' },
    inputSchema: {
      type: 'object',
      properties: { scan: { ...FILE, description: 'A scan' }, lang: text },
      required: ['scan'],
    },
  },
  {
    name: 'merge',
    _meta: { 'openai/fileParams': ['scans'] },
    inputSchema: {
      type: 'object',
      $defs: { file: { type: 'object', properties: { download_url: text, file_id: text } } },
      properties: { scans: { type: 'array', items: { $ref: '#/$defs/file' } }, n: { type: 'number' } },
    },
  },
];

describe('a server that takes files as OpenAI’s clients send them', () => {
  let upstream: RecordingUpstream;
  let wharf: Wharf;
  let openai: RawClient;
  let other: RawClient;

  beforeAll(async () => {
    upstream = await RecordingUpstream.start({
      tools: TOOLS,
      methods: {
        'tools/list': () => ({ tools: TOOLS, cacheScope: 'public' }),
        'tools/call': ({ name }) =>
          name === 'give'
            ? { content: [], structuredContent: { file: { download_url: 'https://x.example/1', file_id: '1' } } }
            : { content: [{ type: 'text', text: 'done' }] },
      },
    });
    wharf = await startWharf({
      servers: { s: { url: upstream.url, transport: 'streamable-http' } },
      config: { clients: [{ match: { name: 'chat*' }, dialects: ['openai-file-params'] }] },
    });
    openai = await RawClient.connect(wharf.mcp, '2025-06-18', { name: 'chatgpt' });
    other = await RawClient.connect(wharf.mcp, '2025-06-18', { name: 'other' });
  });

  afterAll(async () => {
    await wharf.stop();
    await upstream.stop();
  });

  const bytesAt = async (url: unknown) => Buffer.from(await (await fetch(String(url))).arrayBuffer());

  it('such a client sees its tools byte for byte (OAI-15)', async () => {
    const { answer } = await openai.request('tools/list');
    for (const tool of TOOLS) expect(answer.text).toContain(JSON.stringify(tool));
  });

  it('and what it hands over passes byte for byte, unasked (OAI-15)', async () => {
    const scan = { download_url: 'https://10.0.0.1/never-fetched?sig=1', file_id: 'file_1', uri: 'sediment://1' };
    const body = `{"jsonrpc":"2.0","id":77,"method":"tools/call","params":{"name":"read_scan","arguments":{"scan":${JSON.stringify(
      scan,
    )},"n":1e400}}}`;
    const answer = await openai.post(body);
    expect(answer.messages[0]?.result?.isError).toBeUndefined();
    expect(upstream.with('tools/call').at(-1)?.body.toString('utf8')).toBe(body);
  });

  it('on 2026-07-28 its untouched list is for such clients only (OAI-15)', async () => {
    const client = RawClient.stateless(wharf.mcp, '2026-07-28', { name: 'chatgpt' });
    const { result } = await client.request('tools/list');
    expect(result?.cacheScope).toBe('private');
    const tools = (result?.tools ?? []) as unknown[];
    expect(tools.slice(0, TOOLS.length)).toEqual(TOOLS);
  });

  it('other clients see a text, and no list of such arguments (OAI-16, BR-11)', async () => {
    const { result } = await other.request('tools/list');
    const [scan, merge] = (result?.tools ?? []) as { inputSchema: { properties: object }; _meta: object }[];
    expect(scan?._meta).toEqual({ 'openai/fileParams': ['gone', 'lang'], 'openai/outputTemplate': 'ui://x' });
    expect(scan?.inputSchema.properties).toMatchObject({
      scan: { type: 'string', description: expect.stringMatching(/^A scan\. A file/) },
      lang: text,
    });
    expect(merge?._meta).toEqual({});
    expect(merge?.inputSchema.properties).toMatchObject({ scans: { type: 'array', items: { type: 'string' } } });
  });

  it('what they hand over becomes an object with a link of Wharf’s (OAI-16, P9)', async () => {
    await other.call('read_scan', { scan: `data:text/plain;name=a.txt;base64,${btoa('Hello world!')}` });
    const scan = upstream.lastArguments.scan as Record<string, unknown>;
    expect(scan).toEqual({
      download_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/d\//),
      file_id: expect.stringMatching(/^mcp-file:\/\/wharf\/f_/),
      mime_type: 'text/plain',
      file_name: 'a.txt',
    });
    expect((await bytesAt(scan.download_url)).toString()).toBe('Hello world!');
    await other.call('read_scan', { scan: scan.file_id });
    expect(upstream.lastArguments.scan).toMatchObject({ file_id: scan.file_id });
  });

  it('only the members that the server knows, item by item (OAI-16)', async () => {
    await other.call('merge', { scans: [`data:text/plain;base64,${btoa('one')}`, 'data:,two'], n: 1 });
    const scans = upstream.lastArguments.scans as Record<string, unknown>[];
    expect(scans.map((scan) => Object.keys(scan).sort())).toEqual([
      ['download_url', 'file_id'],
      ['download_url', 'file_id'],
    ]);
    expect(String(await bytesAt(scans[0]?.download_url))).toBe('one');
    expect(String(await bytesAt(scans[1]?.download_url))).toBe('two');
  });

  it('a handle of Wharf’s works for such a client too, where its host would put an address (OAI-16)', async () => {
    await other.call('read_scan', { scan: 'data:text/plain;name=b.txt,shared' });
    const { file_id, download_url } = upstream.lastArguments.scan as Record<string, string>;
    await openai.call('read_scan', { scan: { download_url: file_id, file_id } });
    const scan = upstream.lastArguments.scan as Record<string, string>;
    expect(scan).toMatchObject({ file_id, file_name: 'b.txt' });
    expect(scan.download_url).toMatch(/^http/);
    expect(String(await bytesAt(scan.download_url))).toBe('shared');
    // and a link, from a client that Wharf would have to fetch for
    await other.call('read_scan', { scan: { download_url, file_id: 'x' } });
    expect(upstream.lastArguments.scan).toMatchObject({ file_id, file_name: 'b.txt' });
  });

  it('what such a server gives as an object stays as it is (Q10)', async () => {
    const file = { download_url: 'https://x.example/1', file_id: '1' };
    expect((await openai.call('give')).result?.structuredContent).toEqual({ file });
    expect((await other.call('give')).result?.structuredContent).toEqual({ file });
  });
});

describe('a link of Wharf’s from a client that spells files as the server does', () => {
  it('is a file handed over: of whom, and whether it may be (HO-07)', async () => {
    const giving = await RecordingUpstream.start({
      tools: [{ name: 'give', inputSchema: { type: 'object' } }],
      methods: {
        'tools/call': () => ({
          content: [{ type: 'image', data: Buffer.alloc(600_000).toString('base64'), mimeType: 'image/png' }],
        }),
      },
    });
    const taking = await RecordingUpstream.start({ tools: TOOLS });
    const take = { url: taking.url, transport: 'streamable-http' };
    const wharf = await startWharf({
      servers: { from: { url: giving.url, transport: 'streamable-http' }, denied: take, allowed: take },
      config: {
        clients: [{ match: { name: 'chat*' }, dialects: ['openai-file-params'] }],
        handoff: [{ from: 'from', to: 'denied', allow: false }],
      },
    });
    try {
      const client = (server: string) =>
        RawClient.connect(`${wharf.url}/${server}/mcp`, '2025-06-18', { name: 'chatgpt' });
      const { result } = await (await client('from')).call('give');
      const meta = result?._meta as { 'dev.wharf/files': { uri: string; url: string }[] };
      const [file] = meta['dev.wharf/files'];
      const scan = { download_url: file?.url, file_id: 'file_1' };
      const refused = await (await client('denied')).call('read_scan', { scan });
      expect(refused.result).toMatchObject({ _meta: { 'dev.wharf/fileError': { reason: 'handoffDenied' } } });
      const many = { scans: [...Array(101).fill({ download_url: 'https://x.example/1', file_id: '1' }), scan] };
      const hidden = await (await client('denied')).call('merge', many);
      expect(hidden.result).toMatchObject({ isError: true });
      expect(taking.with('tools/call')).toHaveLength(0);
      await (await client('allowed')).call('read_scan', { scan });
      expect(taking.lastArguments.scan).toMatchObject({
        file_id: file?.uri,
        download_url: expect.stringContaining('/d/'),
      });
    } finally {
      await wharf.stop();
      await giving.stop();
      await taking.stop();
    }
  });
});
