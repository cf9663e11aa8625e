import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RawClient } from '../../helpers/raw-client.js';
import { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

const FILE = { type: 'string', contentEncoding: 'base64' };
const properties = {
  file: FILE,
  headed: { ...FILE, 'x-mcp-header': 'Headed' },
  list: { type: 'array', items: FILE },
  pages: { type: 'array', items: { type: 'object', properties: { data: FILE } } },
};
const STATELESS = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': { name: 'hostile', version: '1' },
};
const HANDLE = 'mcp-file://wharf/f_none';

/** What JSON parsers of other languages keep, and JavaScript's would not. */
const ODD =
  ' "big" : 12345678901234567890,"huge":1e400 ,\t"minus":-0,"point":1.0,"escaped":"\\u00e9\\/\\ud800",' +
  '"__proto__":{"x":1},"constructor":"mcp-file:no","twice":1,"twice":2, "none" : [ ] ';

describe('calls of a hostile client', () => {
  let upstream: RecordingUpstream;
  let wharf: Wharf;
  let client: RawClient;

  beforeAll(async () => {
    const inputSchema = { type: 'object', properties };
    upstream = await RecordingUpstream.start({
      tools: [
        { name: 'take', inputSchema },
        { name: 'plain', inputSchema: {} },
      ],
    });
    wharf = await startWharf({
      servers: { s: { url: upstream.url } },
      config: { limits: { message: '64KiB', inlineArgument: '4MiB', held: '16MiB' } },
    });
    client = await RawClient.connect(wharf.mcp);
  });

  afterAll(async () => {
    await wharf.stop();
    await upstream.stop();
  });

  /** Sends a body as it stands there. */
  async function post(body: string, more: Record<string, string> = {}) {
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(client.session !== undefined && { 'mcp-session-id': client.session }),
      ...more,
    };
    const answer = await fetch(wharf.mcp, { method: 'POST', headers, body });
    const text = await answer.text();
    return { status: answer.status, message: JSON.parse(text) };
  }

  const callOf = (name: string, args: string) =>
    `{"jsonrpc": "2.0","id" :7, "method":"tools/call","params":{"arguments":{${args}} ,"name":"${name}"}}`;
  const received = () => upstream.with('tools/call').at(-1)?.body.toString('utf8');

  it.each([
    ['without files', 'take', ODD],
    ['to a tool without slots', 'plain', `${ODD},"a":"${HANDLE}","b":"data:,x","c":"file:///etc/passwd"`],
    ['with what only looks like files, beside the slots', 'take', `${ODD},"a":"${HANDLE}","b":["data:,x"]`],
    ['to a tool that is not declared', 'constructor', `${ODD},"a":"${HANDLE}"`],
  ])('a call %s reaches the server byte for byte (BR-16)', async (_, name, args) => {
    const body = callOf(name, args);
    expect(await post(body)).toMatchObject({ status: 200, message: { id: 7, result: {} } });
    expect(received()).toBe(body);
  });

  it('with a file in it every other byte is kept (BR-16)', async () => {
    const body = (file: string) => callOf('take', `${ODD},"file" : "${file}" , "after":1.50`);
    await post(body('data:,hello'));
    expect(received()).toBe(body('aGVsbG8='));
  });

  it.each(['arguments', '_meta', 'id'])('refuses what nests a hundred thousand times in %s', async (place) => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    const members = {
      arguments: '{"file":"data:,x"}',
      _meta: '{}',
      id: '1',
      [place]: place === 'id' ? deep : `{"x":${deep}}`,
    };
    const { id, _meta, arguments: args } = members;
    const limits = { config: { limits: { message: '4MiB' } }, servers: { s: { url: upstream.url } } };
    const large = await startWharf(limits);
    const body = `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"take","_meta":${_meta},"arguments":${args}}}`;
    const session = (await RawClient.connect(large.mcp)).session ?? '';
    const headers = { 'content-type': 'application/json', accept: 'application/json', 'mcp-session-id': session };
    const answer = await fetch(large.mcp, { method: 'POST', headers, body });
    expect([answer.status, await answer.json()]).toMatchObject([
      400,
      {
        ...(place !== 'id' && { id: 1 }),
        error: { data: { code: 'too_deep', limit: 'limits.depth', allowed: 1000, actual: 1001 } },
      },
    ]);
    await large.stop();
  });

  it.each([
    ['too_deep', '['.repeat(70_000)],
    ['message_too_large', `{"x":[${'1,'.repeat(40_000)}`],
    ['held_full', `{"file":"${'A'.repeat(7_000_000)}`],
  ])('says which request it refuses before that has come whole: %s', async (code, args) => {
    const { message } = await post(`{"jsonrpc":"2.0","id":"me","method":"tools/call","params":{"arguments":${args}`);
    expect(message).toMatchObject({ id: 'me', error: { data: { code } } });
  });

  it('refuses more files in one call than limits.files, wherever they stand', async () => {
    const pages = Array.from({ length: 500 }, () => ({ data: HANDLE }));
    const before = upstream.with('tools/call').length;
    const { result } = await client.call('take', { pages });
    expect(result).toMatchObject({
      isError: true,
      _meta: { 'dev.wharf/fileError': { reason: 'tooManyFiles', argument: 'pages[100].data' } },
    });
    expect(result?.content?.[0]?.text).toContain('a call takes at most 100');
    expect(upstream.with('tools/call')).toHaveLength(before);
  });

  it('sees a file behind twenty thousand values that are none', async () => {
    const pages = [...Array.from({ length: 20_000 }, () => 0), { data: HANDLE }];
    const { result } = await client.call('take', { pages });
    expect(result).toMatchObject({ _meta: { 'dev.wharf/fileError': { argument: 'pages[20000].data' } } });
  });

  it('counts the files of a batch together', async () => {
    const calls = Array.from({ length: 30 }, () => callOf('take', `"list":["data:,1","data:,2","data:,3","data:,4"]`));
    const { status, message } = await post(`[${calls.join()}]`);
    expect([status, JSON.stringify(message)]).toEqual([
      expect.any(Number),
      expect.stringContaining('a call takes at most 100'),
    ]);
  });

  it('refuses a file argument that is named twice, in another spelling too, as the mistake of the client', async () => {
    const { status, message } = await post(callOf('take', '"file":"data:,a","\\u0066ile":"data:,b"'));
    expect([status, message.id, message.error.code]).toEqual([400, 7, -32600]);
    expect(message.error.message).toContain('"file" twice');
  });

  it('lets no line break into a header that repeats an argument', async () => {
    const base64 = `${'A'.repeat(64)}\r\n${'B'.repeat(64)}`;
    const params = { name: 'take', _meta: STATELESS, arguments: { headed: base64 } };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
    const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'take' };
    // what is declared is known once a file has been asked for
    await post(body.replace(/AAAA.*BBBB/, 'data:,x'), headers);
    expect(await post(body, headers)).toMatchObject({ status: 200, message: { result: {} } });
    const sent = String(upstream.with('tools/call').at(-1)?.headers['mcp-param-headed']);
    expect(sent).toBe(`=?base64?${Buffer.from(base64).toString('base64')}?=`);
  });

  it('is done soon with a message full of what might have become a link', async () => {
    const texts = Array.from({ length: 4000 }, () => 'http:'.repeat(819));
    const { status, message } = await post(callOf('unknown', `"texts":${JSON.stringify(texts)}`));
    expect([status, message.error.data.code]).toEqual([413, 'message_too_large']);
  });

  it('counts a large body against limits.held as what it takes in memory', async () => {
    const args = ['a', 'b'].map((name) => `"${name}":"${'A'.repeat(3_000_000)}"`).join();
    const { status, message } = await post(callOf('plain', args));
    expect([status, message.error.data]).toMatchObject([503, { code: 'held_full', limit: 'limits.held' }]);
    // and gives it back
    for (let time = 0; time < 8; time++) {
      const refused = await post(callOf('plain', `"a":"${'A'.repeat(3_000_000)}"`));
      expect(refused.message.error.data).toMatchObject({ code: 'message_too_large' });
    }
  });
});
