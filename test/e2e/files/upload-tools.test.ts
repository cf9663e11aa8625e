import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type ServedUpstream, serve, TRANSPORTS } from '../../helpers/cut-upstreams.js';
import { RawClient, type RawMessage } from '../../helpers/raw-client.js';
import { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

const HANDLE = /^mcp-file:\/\/wharf\/f_[\w-]{22}$/;
const F4 = Buffer.from('AAEC/f7/', 'base64');
const MODERN = '2026-07-28';
const MODERN_META = {
  'io.modelcontextprotocol/protocolVersion': MODERN,
  'io.modelcontextprotocol/clientCapabilities': {},
};

type Ask = (method: string, params?: Record<string, unknown>) => Promise<RawMessage>;

/** Asks as a client of that version would. */
async function asClient(url: string, version: string): Promise<Ask> {
  if (version < MODERN) {
    const client = await RawClient.connect(url, version);
    return (method, params) => client.request(method, params);
  }
  const client = RawClient.stateless(url, version);
  return async (method, params = {}) => {
    const headers: Record<string, string> = { 'mcp-method': method };
    if (typeof params.name === 'string') headers['mcp-name'] = params.name;
    const body = { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: MODERN_META } };
    const [message] = (await client.post(body, headers)).messages;
    if (!message) throw new Error(`no answer to ${method}`);
    return message;
  };
}

interface Offered {
  file: { uri: string };
  upload: { url: string; multipart: { fileField: string } };
}

function toolNames({ result }: RawMessage): string[] {
  const tools = (result?.tools ?? []) as { name: string }[];
  return tools.map(({ name }) => name);
}

function structured<Shape>({ result }: RawMessage): Shape {
  return result?.structuredContent as Shape;
}

function textOf({ result }: RawMessage): string {
  return String(result?.content?.[0]?.text);
}

async function put(url: string, bytes: Buffer): Promise<number> {
  return (await fetch(url, { method: 'PUT', body: new Uint8Array(bytes) })).status;
}

describe.each(TRANSPORTS)('the tools for uploads beside those of a server over %s', (transport) => {
  let upstream: ServedUpstream;
  let wharf: Wharf;

  beforeAll(async () => {
    upstream = await serve(transport);
    const tools = { echo: { files: { text: { encoding: 'base64' } } } };
    wharf = await startWharf({ servers: { fake: { ...upstream.server, tools } } });
  });

  afterAll(async () => {
    await wharf?.stop();
    await upstream?.close();
  });

  // neither the old HTTP+SSE nor a session of the fake server exists in 2026-07-28
  const versions = [
    '2024-11-05',
    '2025-03-26',
    '2025-06-18',
    '2025-11-25',
    ...(transport === 'legacy-sse' ? [] : [MODERN]),
  ];

  it.each(versions)(
    'give a client of %s a handle, which the tool takes once the file is there (ST-01, K8)',
    async (version) => {
      const ask = await asClient(wharf.mcp, version);
      const names = toolNames(await ask('tools/list'));
      expect(names.slice(-2)).toEqual(['request_file_upload', 'get_file_link']);
      const asked = await ask('tools/call', { name: 'request_file_upload', arguments: { name: 'a.bin', size: 6 } });
      expect(asked.result?.resultType).toBe(version === MODERN ? 'complete' : undefined);
      const [handle] = /mcp-file:\S+/.exec(textOf(asked)) ?? [''];
      const [page] = /http:\S+\/u\/[\w-]+/.exec(textOf(asked)) ?? [''];
      expect(handle).toMatch(HANDLE);
      const early = await ask('tools/call', { name: 'echo', arguments: { text: handle } });
      expect(early.result).toMatchObject({
        isError: true,
        _meta: { 'dev.wharf/fileError': { reason: 'uploadIncomplete' } },
      });
      expect(await put(page, F4)).toBe(201);
      expect(textOf(await ask('tools/call', { name: 'echo', arguments: { text: handle } }))).toBe('AAEC/f7/');
      const linked = await ask('tools/call', { name: 'get_file_link', arguments: { handle } });
      const [url] = /http:\S+\/d\/[\w-]+/.exec(textOf(linked)) ?? [''];
      expect(Buffer.from(await (await fetch(url)).arrayBuffer())).toEqual(F4);
    },
  );

  it('keep from older clients what their version does not have (BIN-29)', async () => {
    const ask = await asClient(wharf.mcp, '2024-11-05');
    const tools = (await ask('tools/list')).result?.tools as Record<string, unknown>[];
    expect(Object.keys(tools.at(-1) ?? {})).toEqual(['name', 'description', 'inputSchema']);
    const { result } = await ask('tools/call', { name: 'request_file_upload', arguments: {} });
    expect(Object.keys(result ?? {})).toEqual(['content']);
  });

  it('say what to do with a link in text alone to a host that hides text beside structuredContent', async () => {
    const host = await RawClient.connect(wharf.mcp, '2025-06-18', { name: 'claude-code', version: '2.1.280' });
    const tools = (await host.request('tools/list')).result?.tools as Record<string, unknown>[];
    expect(Object.keys(tools.at(-1) ?? {})).toEqual(
      expect.arrayContaining(['name', 'title', 'description', 'inputSchema', 'annotations']),
    );
    expect(tools.filter(({ outputSchema }) => outputSchema !== undefined)).toEqual([]);
    const { result } = await host.call('request_file_upload');
    expect(Object.keys(result ?? {})).toEqual(['content']);
    expect(result?.content?.[0]?.text).toMatch(/to be opened in a browser: http\S+\/u\/.*pass this handle/s);
  });
});

const LEGACY = {
  name: 'take',
  inputSchema: { type: 'object', properties: { file: { type: 'string', contentEncoding: 'base64' } } },
};
const PLAIN = { name: 'greet', inputSchema: { type: 'object' } };

async function between(
  tools: Record<string, unknown>[],
  run: (ask: Ask, upstream: RecordingUpstream, wharf: Wharf) => Promise<void>,
  { server = {}, config = {} }: { server?: Record<string, unknown>; config?: Record<string, unknown> } = {},
): Promise<void> {
  const upstream = await RecordingUpstream.start({ tools });
  const servers = { docs: { url: upstream.url, transport: 'streamable-http', ...server } };
  const wharf = await startWharf({ servers, config });
  try {
    await run(await asClient(wharf.mcp, '2025-06-18'), upstream, wharf);
  } finally {
    await wharf.stop();
    await upstream.stop();
  }
}

async function namesIn(ask: Ask): Promise<string[]> {
  return toolNames(await ask('tools/list'));
}

describe('which tools there are', () => {
  it('none where no tool takes files; a call goes to the server, which knows no such tool (ST-07)', () =>
    between([PLAIN], async (ask, upstream) => {
      expect(await namesIn(ask)).toEqual(['greet']);
      await ask('tools/call', { name: 'request_file_upload', arguments: {} });
      expect(upstream.with('tools/call').at(-1)?.params.name).toBe('request_file_upload');
    }));

  it('none where the operator has turned them off (ST-07)', () =>
    between(
      [LEGACY],
      async (ask, upstream) => {
        expect(await namesIn(ask)).toEqual(['take']);
        await ask('tools/call', { name: 'request_file_upload', arguments: {} });
        expect(upstream.with('tools/call')).toHaveLength(1);
      },
      { config: { uploadTool: 'off' } },
    ));

  it('none where the server says nothing of tools', async () => {
    const upstream = await RecordingUpstream.start({
      capabilities: { resources: {} },
      methods: { 'tools/list': () => undefined },
    });
    const wharf = await startWharf({ servers: { docs: { url: upstream.url, transport: 'streamable-http' } } });
    try {
      const ask = await asClient(wharf.mcp, '2025-06-18');
      expect((await ask('tools/list')).error?.code).toBe(-32601);
      await ask('tools/call', { name: 'get_file_link', arguments: {} });
      expect(upstream.with('tools/call')).toHaveLength(1);
    } finally {
      await wharf.stop();
      await upstream.stop();
    }
  });

  it('they have the names of the config, of the server before those of all', () =>
    between(
      [LEGACY],
      async (ask) => {
        expect(await namesIn(ask)).toEqual(['take', 'docs_upload', 'link_all']);
        expect(
          (await ask('tools/call', { name: 'docs_upload', arguments: {} })).result?.structuredContent,
        ).toBeDefined();
      },
      {
        server: { uploadTool: { request: 'docs_upload' } },
        config: { uploadTool: { request: 'upload_all', link: 'link_all' } },
      },
    ));

  it('a tool of the server is never hidden, and ours takes another name in every place (ST-06)', () =>
    between([LEGACY, { ...PLAIN, name: 'request_file_upload' }], async (ask, upstream) => {
      const { result } = await ask('tools/list');
      const tools = result?.tools as { name: string; inputSchema: { properties: { file: { description: string } } } }[];
      expect(tools.map(({ name }) => name)).toEqual([
        'take',
        'request_file_upload',
        'wharf_request_file_upload',
        'get_file_link',
      ]);
      expect(tools[0]?.inputSchema.properties.file.description).toContain('from wharf_request_file_upload or');
      await ask('tools/call', { name: 'request_file_upload', arguments: {} });
      expect(upstream.with('tools/call')).toHaveLength(1);
      const own = await ask('tools/call', { name: 'wharf_request_file_upload', arguments: {} });
      expect(structured<Offered>(own).file.uri).toMatch(HANDLE);
      expect(upstream.with('tools/call')).toHaveLength(1);
    }));

  it("a call before any tools/list goes to the server's own tool as well (ST-06)", () =>
    between([LEGACY, { ...PLAIN, name: 'get_file_link' }], async (ask, upstream) => {
      await ask('tools/call', { name: 'get_file_link', arguments: {} });
      expect(upstream.with('tools/call').at(-1)?.params.name).toBe('get_file_link');
      await ask('tools/call', { name: 'wharf_get_file_link', arguments: {} });
      await ask('tools/call', { name: 'request_file_upload', arguments: {} });
      expect(upstream.with('tools/call')).toHaveLength(1);
      // one look at the server's tools serves all calls
      expect(upstream.with('tools/list')).toHaveLength(1);
    }));

  it('a batch may hold several', () =>
    between([LEGACY], async (_ask, _upstream, wharf) => {
      const client = await RawClient.connect(wharf.mcp, '2025-03-26');
      const call = { jsonrpc: '2.0', method: 'tools/call', params: { name: 'request_file_upload', arguments: {} } };
      const answer = await client.post([
        { ...call, id: 1 },
        { ...call, id: 2 },
      ]);
      expect(answer.messages.map(({ id, result }) => [id, result?.isError])).toEqual([
        [1, undefined],
        [2, undefined],
      ]);
    }));
});
