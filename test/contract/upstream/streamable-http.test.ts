import { afterEach, describe, expect, it } from '@jest/globals';
import { create, settings } from '../../../adapters/upstream/streamable-http.js';
import type { ExchangeUpstream, UpstreamAnswer } from '../../../gateway/ports/upstream.js';
import { type FakeUpstream, type FakeUpstreamOptions, startFakeUpstream } from '../../helpers/fake-upstream.js';
import { until } from '../../helpers/wait.js';
import { describeUpstream } from '../upstream.contract.js';
import { describeSending } from '../upstream-sending.contract.js';
import { httpSending, httpSubject } from './http-subject.js';
import { calm, failureOf, type Overrides, POST_HEADERS, request, upstreamDeps } from './subject.js';

const make = (url: string, overrides: Overrides) => create(settings.parse({ url }), upstreamDeps(overrides));

const subjectFor = (options: FakeUpstreamOptions) =>
  httpSubject(options, make, (fake) => {
    const body = `{"half":${'0'.repeat(100)}`;
    fake.respond = () => ({ contentType: 'application/json', body, cutAfter: 8, cut: 'rst' });
  });

describeSending('streamable-http', () => httpSending('streamable-http', make));
describeUpstream('streamable-http (JSON)', () => subjectFor({ transport: 'json' }));
describeUpstream('streamable-http (SSE)', () => subjectFor({ transport: 'sse' }));
describeUpstream('streamable-http (chunked)', () => subjectFor({ transport: 'json', announceLength: false }));

/** An answer in chunks, as one packet. */
const packet = (chunks: string) =>
  `HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}`;

describe('streamable-http', () => {
  let fake: FakeUpstream;
  let upstream: ExchangeUpstream;

  const start = async (overrides: Overrides = {}, headers: Record<string, string> = {}, options = {}) => {
    fake = await startFakeUpstream(options);
    upstream = create(settings.parse({ url: fake.url, headers }), upstreamDeps(overrides));
  };
  const open = (headers: Record<string, string> = POST_HEADERS, signal = calm()): Promise<UpstreamAnswer> =>
    upstream.open({ method: 'POST', headers: { ...headers }, body: request(1, 'ping') }, signal);
  const send = (body: Buffer): Promise<UpstreamAnswer> =>
    upstream.open({ method: 'POST', headers: { ...POST_HEADERS }, body }, calm());
  const read = async (answer: UpstreamAnswer): Promise<string> => {
    let text = '';
    for await (const part of answer.body) text += String(part);
    return text;
  };

  afterEach(async () => {
    await upstream.close();
    await fake.close();
  });

  it('sends its own Host and framing, asks for no coding, and forwards only what it is given', async () => {
    await start({}, { Authorization: 'Bearer operator' });
    const hostile = {
      ...POST_HEADERS,
      host: 'evil.example',
      'content-length': '3',
      'transfer-encoding': 'chunked',
      'accept-encoding': 'gzip, br',
      connection: 'upgrade',
      authorization: 'Bearer client',
      'mcp-session-id': 'abc',
    };
    await read(await open(hostile));
    const sent = fake.requests[0];
    expect(sent?.headers).toEqual({
      host: new URL(fake.url).host,
      connection: 'keep-alive',
      'accept-encoding': 'identity',
      authorization: 'Bearer operator',
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-session-id': 'abc',
      'content-length': String(request(1, 'ping').length),
    });
    expect(sent?.body).toEqual(request(1, 'ping'));
  });

  it.each([
    ['application/json', 200, 'json'],
    ['Application/JSON; charset=utf-8', 200, 'json'],
    ['application/problem+json', 400, 'json'],
    ['text/event-stream', 200, 'sse'],
    ['text/event-stream; charset=utf-8', 200, 'sse'],
    ['application/x-ndjson', 200, 'lines'],
    ['application/octet-stream', 200, 'bytes'],
    ['text/html', 404, 'bytes'],
    ['application/json-seq', 200, 'bytes'],
    ['text/json', 200, 'json'],
    [undefined, 200, 'json'],
    [undefined, 404, 'bytes'],
    ['application/json', 202, 'none'],
    ['application/json', 204, 'none'],
  ])('takes %s with status %i as %s', async (contentType, status, kind) => {
    await start();
    fake.queue.push({ status, body: '{}', ...(contentType === undefined ? {} : { contentType }) });
    const answer = await open();
    expect({ status: answer.status, kind: answer.kind }).toEqual({ status, kind });
    expect(await read(answer)).toBe(kind === 'none' ? '' : '{}');
  });

  it.each([0, 1000, 12 * 1024, 12 * 1024 + 1, 100_000])(
    'sends every byte of a message of %i characters',
    async (length) => {
      await start();
      const body = Buffer.from(
        JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method: 'ping',
          params: { text: 'é–\u{1f40b}\u0000'.padEnd(length, 'ü') },
        }),
      );
      await read(await send(body));
      expect(fake.requests[0]?.body).toEqual(body);
      expect(fake.requests[0]?.headers['content-length']).toBe(String(body.length));
    },
  );

  it('takes an announced length of 0 as no body', async () => {
    await start();
    fake.queue.push({ contentType: 'application/json', body: '' });
    const answer = await open();
    expect([answer.kind, await read(answer)]).toEqual(['none', '']);
  });

  it('passes on the status, the headers and the length of an answer', async () => {
    await start();
    fake.queue.push({
      status: 429,
      headers: { 'www-authenticate': 'Bearer', 'set-cookie': ['a=1', 'b=2'] },
      body: 'no',
    });
    const answer = await open();
    expect(answer.status).toBe(429);
    expect(answer.contentLength).toBe(2);
    expect(answer.headers).toMatchObject({ 'www-authenticate': 'Bearer', 'set-cookie': ['a=1', 'b=2'] });
    await read(answer);
  });

  it('knows the length of an answer that came in one packet, announced or not', async () => {
    await start();
    fake.queue.push({ raw: packet('4\r\n: hi\r\n0\r\n\r\n') });
    const answer = await open();
    expect(answer).toMatchObject({ kind: 'sse', contentLength: 4, whole: Buffer.from(': hi') });
    expect(String(answer.body.read())).toBe(': hi');
  });

  it.each([301, 302, 303, 307, 308, 304])('follows no redirect to another origin (%i)', async (status) => {
    await start();
    const target = await startFakeUpstream();
    fake.queue.push({ status, headers: { location: target.url } });
    const failure = await failureOf(open());
    expect(failure.code).toBe('upstream_invalid');
    expect(failure.message).toContain(String(status));
    expect(failure.message).not.toContain(String(target.port));
    expect(target.requests).toEqual([]);
    await target.close();
  });

  it.each([
    [303, '/mcp/?token=s3cret', '/mcp/;'],
    [302, '/mcp/', '/mcp/;'],
    [308, '/mcp', '/mcp;'],
    [307, 'https://elsewhere.test/mcp', 'to another origin;'],
    [307, 'http://[bad', 'nowhere;'],
  ])('says where a redirect led that is not followed: %i %s', async (status, location, told) => {
    await start();
    fake.respond = () => ({ status, headers: { location } });
    const failure = await failureOf(open());
    expect(failure.code).toBe('upstream_invalid');
    expect(failure.message).toContain(told);
    expect(failure.message).not.toMatch(/s3cret|elsewhere/);
  });

  it('follows a redirect once only', async () => {
    await start();
    let hop = 0;
    fake.respond = () => ({ status: 308, headers: { location: `/hop-${++hop}` } });
    expect((await failureOf(open())).message).toContain('/hop-2');
    expect(fake.requests).toHaveLength(2);
  });

  it('uses one connection for one exchange after the other', async () => {
    await start();
    for (let i = 0; i < 20; i++) await read(await open());
    expect(fake.connections).toBe(1);
  });

  it('keeps no connection whose answer was not read to its end', async () => {
    await start();
    fake.queue.push({ contentType: 'application/json', body: 'x'.repeat(5_000_000) });
    const answer = await open();
    answer.body.destroy();
    expect(await read(await open())).toBe('{"result":{},"jsonrpc":"2.0","id":1}');
    expect(fake.connections).toBe(2);
    await until(() => fake.openConnections === 1);
  });

  it('takes no bytes on an idle connection for the next answer', async () => {
    await start();
    const first = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}';
    fake.queue.push({ raw: first });
    expect(await read(await open())).toBe('{}');
    const second = fake.requests[0];
    expect(second?.connection).toBe(0);
    // the surplus comes once the connection lies in the pool
    fake.speakOn(0, 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{"evil":1}');
    await until(() => fake.openConnections === 0);
    expect(await read(await open())).toBe('{"result":{},"jsonrpc":"2.0","id":1}');
  });

  it('refuses a second answer in the same breath', async () => {
    await start();
    const one = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n';
    fake.queue.push({ raw: `${one}{}${one}[]` });
    expect(await read(await open())).toBe('{}');
    expect(await read(await open())).toBe('{"result":{},"jsonrpc":"2.0","id":1}');
    expect(fake.connections).toBe(2);
  });

  it('repeats a request whose reused connection had been closed meanwhile', async () => {
    await start();
    await read(await open());
    fake.queue.push({ reset: true });
    expect(await read(await open())).toBe('{"result":{},"jsonrpc":"2.0","id":1}');
    expect(fake.requests.length).toBe(3);
  });

  it('repeats it once and not again', async () => {
    await start();
    await read(await open());
    fake.queue.push({ reset: true }, { reset: true });
    expect((await failureOf(open())).code).toBe('upstream_closed');
    expect(fake.requests.length).toBe(3);
  });

  it('never repeats a request on a new connection', async () => {
    await start();
    fake.queue.push({ reset: true });
    expect((await failureOf(open())).code).toBe('upstream_closed');
    expect(fake.requests.length).toBe(1);
  });

  it('never repeats a POST the server may have worked on', async () => {
    await start();
    await read(await open());
    fake.queue.push({ headDelayMs: 400, reset: true });
    expect((await failureOf(open())).code).toBe('upstream_closed');
    expect(fake.requests.length).toBe(2);
  });

  it('never repeats a request after the first byte of an answer', async () => {
    await start();
    await read(await open());
    fake.queue.push({ raw: 'HTTP/1.1 200 O', cut: 'rst' });
    expect((await failureOf(open())).code).toBe('upstream_closed');
    expect(fake.requests.length).toBe(2);
  });

  it('waits for the head of an answer no longer than timeouts.upstream', async () => {
    await start({ timeouts: { upstream: 100 } });
    fake.queue.push({ never: true });
    const failure = await failureOf(open());
    expect(failure.code).toBe('upstream_timeout');
    expect(failure.facts).toEqual({ server: 'subject', limit: 'timeouts.upstream', allowed: 100 });
    await until(() => fake.openConnections === 0);
  });

  it('lets a body take longer than timeouts.upstream', async () => {
    await start({ timeouts: { upstream: 100 } });
    fake.queue.push({ contentType: 'application/json', body: '[1,2,3]', chunk: 1, gapMs: 40 });
    expect(await read(await open())).toBe('[1,2,3]');
  });

  it('is not moved by informational answers', async () => {
    await start();
    const early = 'HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n'.repeat(50);
    const head = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n';
    fake.queue.push({ raw: `HTTP/1.1 100 Continue\r\n\r\n${early}${head}{}` });
    expect(await read(await open())).toBe('{}');
  });

  it.each([
    ['no HTTP', 'SSH-2.0-OpenSSH_9.2\r\n'],
    ['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}'],
    ['a length and chunks', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}'],
    ['a line break in a header', 'HTTP/1.1 200 OK\r\nX: a\nb\r\n\r\n'],
    ['a head without end', `HTTP/1.1 200 OK\r\nX: ${'x'.repeat(100_000)}`],
  ])('refuses %s', async (_what, raw) => {
    await start();
    fake.queue.push({ raw });
    expect((await failureOf(open())).code).toBe('upstream_invalid');
  });

  it('refuses to change the protocol', async () => {
    await start();
    fake.queue.push({ raw: 'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n' });
    expect((await failureOf(open())).code).toBe('upstream_closed');
  });

  it('ends a request under way with the reason of its signal', async () => {
    await start();
    fake.queue.push({ never: true });
    const leaving = new AbortController();
    const opening = open(POST_HEADERS, leaving.signal);
    await until(() => fake.requests.length === 1);
    leaving.abort();
    const failure = await failureOf(opening);
    expect(failure.code).toBe('upstream_closed');
    await until(() => fake.openConnections === 0);
  });

  it('ends a body under way with the reason of its signal', async () => {
    await start();
    fake.queue.push({ contentType: 'application/json', body: '[1,2]', cutAfter: 2, cut: 'stall' });
    const leaving = new AbortController();
    const answer = await open(POST_HEADERS, leaving.signal);
    leaving.abort();
    expect((await failureOf(read(answer))).code).toBe('upstream_closed');
    await until(() => fake.openConnections === 0);
  });

  it('waits for a free connection as long as timeouts.queue allows, in the order of arrival', async () => {
    await start({ limits: { connections: 1 } });
    const order: number[] = [];
    await Promise.all(
      [0, 1].map(async (place) => {
        await read(await open());
        order.push(place);
      }),
    );
    expect(order).toEqual([0, 1]);
    expect(fake.connections).toBe(1);
  });

  it('lets no more wait than may run', async () => {
    await start({ limits: { connections: 2 } });
    fake.respond = () => ({ never: true });
    const leaving = new AbortController();
    const failures = [1, 2, 3, 4].map(() => failureOf(open(POST_HEADERS, leaving.signal)));
    expect((await failureOf(open())).code).toBe('connection_limit');
    leaving.abort();
    expect((await Promise.all(failures)).map((failure) => failure.code)).toEqual(Array(4).fill('upstream_closed'));
  });
});

describe('settings of an HTTP upstream', () => {
  it.each([
    ['no URL', { url: 'localhost:3000' }],
    ['another scheme', { url: 'file:///etc/passwd' }],
    ['credentials', { url: 'http://a:b@host/mcp' }],
    ['a fragment', { url: 'http://host/mcp#x' }],
    ['a header that frames', { url: 'http://host/mcp', headers: { 'Content-Length': '1' } }],
    ['a session of all callers', { url: 'http://host/mcp', headers: { 'MCP-Session-Id': 'one' } }],
    ['a place in a stream that no request has been at', { url: 'http://host/mcp', headers: { 'Last-Event-ID': '1' } }],
    ['the name of one call', { url: 'http://host/mcp', headers: { 'Mcp-Name': 'search' } }],
    ['a header value with a line break', { url: 'http://host/mcp', headers: { X: 'a\r\nY: b' } }],
    ['a header name with a blank', { url: 'http://host/mcp', headers: { 'X Y': 'a' } }],
    ['an unknown key', { url: 'http://host/mcp', header: {} }],
  ])('refuse %s', (_what, value) => {
    expect(settings.safeParse(value).success).toBe(false);
  });
});
