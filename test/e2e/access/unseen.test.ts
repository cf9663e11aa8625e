import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { keyHash } from '../../helpers/bytes.js';
import { readAnswer } from '../../helpers/raw-client.js';
import { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';
import { recorder } from '../audit/recorder.js';

const KEYS = { ada: 'ada-0123456789', bob: 'bob-0123456789' };
type Name = keyof typeof KEYS;

const tool = (name: string, more: object = {}) => ({ name, inputSchema: { type: 'object' }, ...more });
const FILE = { type: 'object', properties: { doc: { type: 'string' } }, required: ['doc'] };

/** The list comes in two pages. */
const PAGES = [
  [tool('delete_user'), tool('ocr', { inputSchema: FILE }), tool('show')],
  [tool('delete_all'), tool('read'), tool('old')],
];

const audit = recorder();
let upstream: RecordingUpstream;
let wharf: Wharf;

beforeAll(async () => {
  upstream = await RecordingUpstream.start({
    methods: {
      'tools/list': ({ cursor }) =>
        cursor === 'two' ? { tools: PAGES[1] } : { tools: PAGES[0] as object[], nextCursor: 'two' },
    },
  });
  wharf = await startWharf({
    servers: {
      hr: {
        url: upstream.url,
        allow: [{ principal: 'ada' }, { key: 'b*', tools: ['!delete_*', '!ocr', '!read_*'] }],
        tools: {
          ocr: { name: 'scan', files: { doc: { encoding: 'base64' } } },
          old: { name: 'show' },
          show: { name: 'shown' },
        },
      },
      secret: { url: upstream.url, allow: [{ key: 'ada' }] },
    },
    config: {
      auth: {
        use: 'apiKeys',
        keys: Object.entries(KEYS).map(([name, key]) => ({ name, hash: keyHash(key) })),
      },
    },
    adapters: audit.adapters,
  });
});

beforeEach(() => {
  upstream.requests.length = 0;
});

afterAll(async () => {
  await wharf?.stop();
  await upstream?.stop();
});

async function post(name: Name, body: object, { path = '/hr/mcp', ...headers }: Record<string, string> = {}) {
  const response = await fetch(`${wharf.url}${path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization: `Bearer ${KEYS[name]}`,
      ...headers,
    },
    body: Buffer.isBuffer(body) ? body : JSON.stringify(body),
  });
  return readAnswer(response);
}
const rpc = (method: string, params: object = {}) => ({ jsonrpc: '2.0', id: 7, method, params });
const call = (name: string, args: object = {}) => rpc('tools/call', { name, arguments: args });

const _meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': { name: 'x', version: '1' },
};
const modern = (name: string) => ({
  'mcp-protocol-version': '2026-07-28',
  'mcp-method': 'tools/call',
  'mcp-name': name,
});

async function namesFor(name: Name): Promise<string[]> {
  const names: string[] = [];
  for (let cursor: string | undefined = ''; cursor !== undefined; ) {
    const { text } = await post(name, rpc('tools/list', cursor === '' ? {} : { cursor }));
    const { result } = JSON.parse(text) as { result: { tools: { name: string }[]; nextCursor?: string } };
    names.push(...result.tools.map((one) => one.name));
    cursor = result.nextCursor;
  }
  return names;
}

describe('what a caller may not use', () => {
  it('is on no page of a list, and neither are tools of Wharf’s own that only serve it', async () => {
    expect(await namesFor('ada')).toEqual([
      'delete_user',
      'scan',
      'shown',
      'delete_all',
      'read',
      'show',
      'request_file_upload',
      'get_file_link',
    ]);
    expect(await namesFor('bob')).toEqual(['shown', 'read', 'show']);
  });

  it.each(['delete_user', 'delete_all', 'ocr', 'scan', 'read_missing'])(
    'is refused as an unknown tool, and its server hears nothing: %s',
    async (name) => {
      await namesFor('bob');
      upstream.requests.length = 0;
      const { status, text } = await post('bob', call(name));
      expect(status).toBe(200);
      expect(JSON.parse(text)).toEqual({
        jsonrpc: '2.0',
        id: 7,
        error: { code: -32602, message: `Unknown tool: ${name}`, data: { code: 'tool_unknown', tool: name } },
      });
      expect(upstream.with('tools/call')).toEqual([]);
      const answer = await post('bob', rpc('tools/call', { name, arguments: {}, _meta }), modern(name));
      expect(JSON.parse(answer.text).error).toMatchObject({ code: -32602, message: `Unknown tool: ${name}` });
      expect(upstream.with('tools/call')).toEqual([]);
    },
  );

  it.each([
    ['without an id', { jsonrpc: '2.0', method: 'tools/call', params: { name: 'delete_user', arguments: {} } }],
    ['by a list of one name', rpc('tools/call', { name: ['delete_user'] })],
    ['by a list of one method', { ...call('delete_user'), method: ['tools/call'] }],
    ['by its place', rpc('tools/call', ['delete_user'])],
    ['by another spelling of the method', rpc('Tools/Call', { name: 'delete_user', arguments: {} })],
    ['with a letter that is not seen', call('delete\u3164_user')],
    ['before a NUL', call('delete_user\0s')],
    ['behind what is not seen', call(`${'\u200b'.repeat(2000)}delete_user`)],
  ])('is not called %s either', async (_, body) => {
    const { text } = await post('bob', body);
    expect(text).toMatch(/"code":"(?:request_invalid|tool_unknown)"/);
    expect(upstream.requests).toEqual([]);
  });

  it.each([
    ['with a byte that is not UTF-8', 'delete_user\xff'],
    ['with a letter in more bytes than it needs', 'delete\xc1\x9fuser'],
  ])('is not called %s, and the answer has the id', async (_, name) => {
    const body = Buffer.from(JSON.stringify(call('NAME')).replace('NAME', name), 'latin1');
    const { status, text } = await post('bob', body);
    expect([status, JSON.parse(text)]).toEqual([
      400,
      expect.objectContaining({
        id: 7,
        error: expect.objectContaining({ message: 'Invalid request: it is not UTF-8.' }),
      }),
    ]);
    expect(upstream.requests).toEqual([]);
  });

  it('is refused in a batch with everything beside it', async () => {
    const { text } = await post('bob', [call('read'), { ...call('delete_user'), id: 8 }]);
    const answers = JSON.parse(text) as { id: number; error: { message: string } }[];
    expect(answers.map(({ id, error }) => [id, error.message])).toEqual([
      [7, 'Unknown tool: delete_user'],
      [8, 'Unknown tool: delete_user'],
    ]);
    expect(upstream.requests).toEqual([]);
  });

  it('is audited with the rule that hides it, which its caller is not told', async () => {
    audit.entries.length = 0;
    const answers = [await post('bob', call('ocr')), await post('bob', call('delete_user'))];
    await post('bob', rpc('ping'), { path: '/secret/mcp' });
    expect(audit.entries).toEqual([
      expect.objectContaining({
        allowed: false,
        tool: 'ocr',
        code: 'tool_unknown',
        rule: 'servers.hr.tools, ocr: name',
      }),
      expect.objectContaining({ allowed: false, tool: 'delete_user', code: 'tool_unknown', rule: 'servers.hr.allow' }),
      expect.objectContaining({
        allowed: false,
        server: 'secret',
        code: 'server_forbidden',
        rule: 'servers.secret.allow',
      }),
    ]);
    expect(answers.map(({ text }) => text).join()).not.toContain('servers.');
  });

  it('is a server that answers 403 without a challenge, and that errors do not list', async () => {
    const refused = await post('bob', rpc('ping'), { path: '/secret/mcp' });
    expect(refused.status).toBe(403);
    expect(refused.headers.get('www-authenticate')).toBeNull();
    expect(JSON.parse(refused.text).error.data).toEqual({ code: 'server_forbidden', server: 'secret' });
    for (const path of ['/mcp', '/nothing/mcp']) {
      const { status, text } = await post('bob', rpc('ping'), { path });
      expect([status, text.includes('/hr/mcp'), text.includes('secret')]).toEqual([404, true, false]);
      expect((await post('ada', rpc('ping'), { path })).text).toContain('/secret/mcp');
    }
    expect(upstream.requests).toEqual([]);
    expect((await post('ada', rpc('ping'), { path: '/secret/mcp' })).status).toBe(200);
  });
});

describe('a tool with another name', () => {
  it('reaches its server under its own, and a swapped one its own server’s', async () => {
    await post('ada', call('show', { q: 1 }));
    await post('ada', rpc('tools/call', { name: 'shown', arguments: {}, _meta }), modern('shown'));
    const [old, shown] = upstream.with('tools/call');
    expect(old?.params).toEqual({ name: 'old', arguments: { q: 1 } });
    expect(old?.body.toString()).toBe(
      '{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"old","arguments":{"q":1}}}',
    );
    expect(shown?.params.name).toBe('show');
    expect(shown?.headers['mcp-name']).toBe('show');
  });

  it('has its new name in errors and in what asks for its files', async () => {
    const { text } = await post('ada', call('scan'));
    expect(text).toContain("'scan'");
    expect(text).not.toContain('ocr');
    const offered = await post('ada', call('request_file_upload', { tool: 'scan' }));
    expect(offered.text).toContain('/u/');
    const other = await post('ada', call('request_file_upload', { tool: 'ocr' }));
    expect(other.text).toContain('those of this server that do: scan');
    expect(upstream.with('tools/call')).toEqual([]);
  });

  it('gets files under the config’s own key', async () => {
    const doc = Buffer.from('a document').toString('base64');
    await post('ada', call('scan', { doc }));
    expect(upstream.with('tools/call').at(-1)?.params).toEqual({ name: 'ocr', arguments: { doc } });
  });
});
