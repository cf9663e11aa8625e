import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type FakeUpstream, startFakeUpstream } from '../../helpers/fake-upstream.js';
import { RawClient, readAnswer } from '../../helpers/raw-client.js';
import { until } from '../../helpers/wait.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

let fake: FakeUpstream;
let wharf: Wharf;

beforeAll(async () => {
  fake = await startFakeUpstream({ transport: 'json', session: true });
  wharf = await startWharf({ servers: { fake: { url: fake.url, transport: 'streamable-http' } } });
});

afterAll(async () => {
  await wharf?.stop();
  await fake?.close();
});

beforeEach(() => {
  fake.queue.length = 0;
  fake.respond = undefined;
});

const LIST = '{"jsonrpc":"2.0","id":7,"method":"resources/list"}';

describe('an answer that holds no file', () => {
  it.each([
    [
      'numbers no double can hold',
      '{"jsonrpc":"2.0","id":7,"result":{"a":1e400,"b":12345678901234567890,"c":-0,"d":1.0}}',
    ],
    ['keys in any order, twice, or dangerous', '{"id":7,"result":{"a":1,"a":2,"__proto__":{"x":1}},"jsonrpc":"2.0"}'],
    ['every escape', '{"jsonrpc":"2.0","id":7,"result":{"t":"\\u0000\\ud800 \\/ \\b\\f\\n\\r\\t\\\\ é \u2028"}}'],
    ['white space around and inside', ' \r\n\t{ "jsonrpc" : "2.0",\n "id" : 7 , "result" : { } } \n'],
    ['something that is no JSON', '{"jsonrpc":"2.0","id":7,"result":NaN} // really'],
  ])('goes through byte for byte: %s', async (_what, body) => {
    for (const framing of ['length', 'chunked'] as const) {
      const client = await RawClient.connect(wharf.mcp);
      fake.queue.push({ body, contentType: 'application/json', framing });
      const response = await fetch(wharf.mcp, {
        method: 'POST',
        headers: { ...client.headers(), 'content-type': 'application/json' },
        body: LIST,
      });
      expect(Buffer.from(await response.arrayBuffer()).toString()).toBe(body);
    }
  });

  it.each([400, 404, 405, 406, 409, 413, 422, 429, 500, 503])('keeps status %i and its body', async (status) => {
    const client = await RawClient.connect(wharf.mcp);
    const body = `{"jsonrpc":"2.0","id":7,"error":{"code":-32000,"message":"status ${status}"}}`;
    fake.queue.push({ status, body, contentType: 'application/json' });
    const answer = await client.post(LIST);
    expect(answer).toMatchObject({ status, text: body });
  });

  it('keeps an error page that is not JSON', async () => {
    const client = await RawClient.connect(wharf.mcp);
    fake.queue.push({ status: 502, body: '<h1>Bad gateway</h1>', contentType: 'text/html' });
    expect(await client.post(LIST)).toMatchObject({ status: 502, text: '<h1>Bad gateway</h1>' });
  });

  it('passes only listed headers (G26)', async () => {
    const client = await RawClient.connect(wharf.mcp);
    const headers = {
      'set-cookie': 'a=b',
      'access-control-allow-origin': '*',
      'clear-site-data': '"*"',
      'retry-after': '7',
      'mcp-session-id': 'another',
    };
    fake.queue.push({ body: '{}', contentType: 'application/json', headers });
    const answer = await client.post(LIST);
    expect(answer.headers.get('retry-after')).toBe('7');
    for (const name of ['set-cookie', 'access-control-allow-origin', 'clear-site-data', 'mcp-session-id']) {
      expect(answer.headers.get(name)).toBeNull();
    }
  });
});

describe('a body that goes on after its first value', () => {
  it('brings each value as soon as it is complete', async () => {
    const client = await RawClient.connect(wharf.mcp);
    const first = '{"jsonrpc":"2.0","method":"notifications/message","params":{"data":1}}\n';
    const second = '{"jsonrpc":"2.0","id":7,"result":{}}\n';
    fake.queue.push({
      contentType: 'application/json',
      framing: 'chunked',
      connectionClose: true,
      body: first,
      cut: 'stall',
    });
    const response = await fetch(wharf.mcp, {
      method: 'POST',
      headers: { ...client.headers(), 'content-type': 'application/json' },
      body: LIST,
    });
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    const read = async () => Buffer.from((await reader.read()).value ?? []).toString();
    let seen = await read();
    if (!seen.includes('\n')) seen += await read();
    expect(seen).toBe(first);
    // the rest is only sent now
    fake.speakOn(fake.requests.at(-1)?.connection ?? -1, `${second.length.toString(16)}\r\n${second}\r\n0\r\n\r\n`);
    expect(await read()).toContain('"id":7');
  });
});

describe('sessions', () => {
  it('have an id of Wharf’s own, and the upstream hears its own', async () => {
    const client = await RawClient.connect(wharf.mcp);
    await client.request('ping');
    const last = fake.requests.at(-1);
    expect(client.session).toMatch(/^[0-9a-f-]{36}$/);
    expect(last?.headers['mcp-session-id']).toBeDefined();
    expect(last?.headers['mcp-session-id']).not.toBe(client.session);
  });

  it('that do not exist are 404, so that the client initializes again', async () => {
    const client = await RawClient.connect(wharf.mcp);
    const before = fake.requests.length;
    const answer = await client.post(LIST, { 'mcp-session-id': 'no-such-session' });
    expect(answer.status).toBe(404);
    // some clients look for the code that official servers give, or for the status in the words
    expect(answer.messages[0]).toMatchObject({ id: 7, error: { code: -32001, data: { code: 'session_unknown' } } });
    expect(answer.messages[0]?.error?.message).toMatch(/^Session not found \(HTTP 404\)/);
    expect(fake.requests.length).toBe(before);
  });

  it('end with DELETE', async () => {
    const client = await RawClient.connect(wharf.mcp);
    expect(await client.delete()).toBeLessThan(300);
    expect((await client.post(LIST)).status).toBe(404);
  });

  it('end when the upstream has forgotten them', async () => {
    const client = await RawClient.connect(wharf.mcp);
    fake.queue.push({
      status: 404,
      body: '{"jsonrpc":"2.0","error":{"code":-32001,"message":"Session not found"},"id":null}',
      contentType: 'application/json',
    });
    expect((await client.post(LIST)).status).toBe(404);
    const before = fake.requests.length;
    expect((await client.post(LIST)).status).toBe(404);
    expect(fake.requests.length).toBe(before);
  });

  it('go on at a server that has no route for GET', async () => {
    const client = await RawClient.connect(wharf.mcp);
    fake.queue.push({ status: 404, body: 'Cannot GET /mcp', contentType: 'text/html' });
    const stream = await fetch(wharf.mcp, { headers: { ...client.headers(), accept: 'text/event-stream' } });
    expect(stream.status).toBe(404);
    await stream.arrayBuffer();
    expect((await client.post(LIST)).status).toBe(200);
  });
});

describe('what reaches the upstream', () => {
  it('is the body, byte for byte, and no credential (BR-16, P13)', async () => {
    const client = await RawClient.connect(wharf.mcp);
    const body =
      '{ "jsonrpc":"2.0", "id":1e0, "method":"tools/call", "params":{"name":"echo","arguments":{"n":1e400,"text":"\\u0041"}} }';
    await client.post(body, {
      authorization: 'Bearer canary-token',
      cookie: 'session=canary-cookie',
      'x-forwarded-for': '10.9.8.7',
      forwarded: 'for=10.9.8.7',
    });
    const last = fake.requests.at(-1);
    expect(last?.body.toString()).toBe(body);
    expect(JSON.stringify(last?.rawHeaders)).not.toMatch(/canary|10\.9\.8\.7/);
    expect(last?.headers['accept-encoding']).toBe('identity');
    expect(last?.headers.host).toBe(`127.0.0.1:${fake.port}`);
  });

  it('is a batch where the client sent one, and its answers come back', async () => {
    const client = await RawClient.connect(wharf.mcp, '2025-03-26');
    fake.queue.push({
      contentType: 'application/json',
      body: '[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":2,"result":{}}]',
    });
    const answer = await client.post([
      { jsonrpc: '2.0', id: 1, method: 'ping' },
      { jsonrpc: '2.0', id: 2, method: 'ping' },
    ]);
    expect(answer.messages.map(({ id }) => id)).toEqual([1, 2]);
  });

  it('is nothing at all when the body is too large, no JSON or of another type (BASE-17)', async () => {
    const client = await RawClient.connect(wharf.mcp);
    const before = fake.requests.length;
    const large = await client.post(`{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":"${'a'.repeat(5_000_000)}"}}`);
    expect(large.status).toBe(413);
    // how much had come by then is a matter of chunks
    expect(large.messages[0]?.error?.message).toMatch(
      /^The message is larger than the 4\.1 MB allowed \(4\.[23] MB\)\.$/,
    );
    expect(large.messages[0]?.error?.data).toMatchObject({ limit: 'limits.message', allowed: 4_194_304 });
    expect((await client.post('{"jsonrpc"')).messages[0]?.error?.code).toBe(-32700);
    expect((await client.post('[]')).messages[0]?.error?.code).toBe(-32600);
    expect((await client.post(LIST, { 'content-type': 'text/plain' })).status).toBe(415);
    expect((await client.post(LIST, { 'content-encoding': 'gzip' })).status).toBe(415);
    expect(fake.requests.length).toBe(before);
  });
});

describe('2026-07-28', () => {
  const version = '2026-07-28';
  const meta = { 'io.modelcontextprotocol/protocolVersion': version, 'io.modelcontextprotocol/clientCapabilities': {} };
  const body = {
    jsonrpc: '2.0',
    id: 3,
    method: 'tools/call',
    params: { name: 'echo', arguments: { text: 'hi' }, _meta: meta },
  };
  const headers = { 'mcp-protocol-version': version, 'mcp-method': 'tools/call', 'mcp-name': 'echo' };

  it('needs no session; headers are checked here and made again for the upstream', async () => {
    const client = RawClient.stateless(wharf.mcp, version);
    const answer = await client.post(body, headers);
    expect(answer.messages[0]).toMatchObject({ id: 3, result: { content: [{ text: 'hi' }] } });
    expect(answer.headers.get('mcp-session-id')).toBeNull();
    expect(fake.requests.at(-1)?.headers).toMatchObject(headers);
  });

  it('ignores the id of a session, which a client may still send', async () => {
    const client = RawClient.stateless(wharf.mcp, version);
    const answer = await client.post(body, { ...headers, 'mcp-session-id': 'from-before' });
    expect(answer).toMatchObject({ status: 200, messages: [{ id: 3, result: { content: [{ text: 'hi' }] } }] });
    expect(fake.requests.at(-1)?.headers['mcp-session-id']).toBeUndefined();
  });

  it.each([
    ['another name', { ...headers, 'mcp-name': 'die' }],
    ['another method', { ...headers, 'mcp-method': 'tools/list' }],
    ['another version', { ...headers, 'mcp-protocol-version': '2025-11-25' }],
  ])('a request whose headers name %s is refused: 400, -32020', async (_what, sent) => {
    const before = fake.requests.length;
    const answer = await RawClient.stateless(wharf.mcp, version).post(body, sent);
    expect(answer.status).toBe(400);
    expect(answer.messages[0]).toMatchObject({ id: 3, error: { code: -32020 } });
    expect(fake.requests.length).toBe(before);
  });

  it.each([
    ['whose header names another method', 'notifications/roots/list_changed', { 'mcp-method': 'tools/list' }, -32020],
    ['whose method no header can hold', 'notifications/\u{1f600}', {}, -32600],
  ])('a notification %s is refused: 400', async (_what, method, sent, code) => {
    const before = fake.requests.length;
    const notification = { jsonrpc: '2.0', method, params: { _meta: meta } };
    const answer = await RawClient.stateless(wharf.mcp, version).post(notification, {
      'mcp-protocol-version': version,
      ...sent,
    });
    expect(answer.status).toBe(400);
    expect(answer.messages[0]).toMatchObject({ error: { code } });
    expect(fake.requests.length).toBe(before);
  });

  it('a client that closes its stream has cancelled: the upstream’s is closed (BIN-25)', async () => {
    fake.queue.push({ never: true });
    const gone = new AbortController();
    const request = fetch(wharf.mcp, {
      method: 'POST',
      headers: { accept: 'application/json, text/event-stream', 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
      signal: gone.signal,
    });
    request.catch(() => {});
    const before = fake.requests.length;
    await until(() => fake.requests.length > before);
    gone.abort();
    await until(() => fake.requests.at(-1)?.abandoned === true);
    expect(fake.requests.at(-1)?.abandoned).toBe(true);
  });
});

describe('what is at no address', () => {
  it.each([
    ['PUT', '/mcp', 405],
    ['POST', '/', 404],
    ['POST', '/other/mcp', 404],
    ['GET', '/d/unknown', 404],
  ])('%s %s is %i', async (method, path, status) => {
    const answer = await readAnswer(
      await fetch(wharf.url + path, { method, headers: { 'content-type': 'application/json' } }),
    );
    expect(answer.status).toBe(status);
    if (status === 405) expect(answer.headers.get('allow')).toBe('POST, GET, DELETE');
  });
});
