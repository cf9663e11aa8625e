import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { create, settings } from '../../../adapters/upstream/legacy-sse.js';
import type { SharedUpstream } from '../../../gateway/ports/upstream.js';
import {
  type FakeUpstream,
  type FakeUpstreamOptions,
  type ScriptedAnswer,
  startFakeUpstream,
} from '../../helpers/fake-upstream.js';
import { warningsDuring } from '../../helpers/this-process.js';
import { until } from '../../helpers/wait.js';
import { describeSharedUpstream, describeUpstream } from '../upstream.contract.js';
import { describeSending } from '../upstream-sending.contract.js';
import { httpSending, httpSubject } from './http-subject.js';
import { calm, failureOf, type Overrides, request, upstreamDeps } from './subject.js';

const make = (url: string, overrides: Overrides) => create(settings.parse({ url }), upstreamDeps(overrides));

const subject = () =>
  httpSubject({ transport: 'legacy-sse' }, make, (fake) => {
    fake.respond = ({ method }) => {
      if (method === 'GET') return undefined;
      fake.speakOn(0, '8\r\n{"half":\r\n');
      setTimeout(() => fake.resetConnection(0), 50);
      return { status: 202 };
    };
  });

describeSending('legacy-sse', () => httpSending('legacy-sse', make));
describeUpstream('legacy-sse', subject);
describeSharedUpstream('legacy-sse', subject);

describe('legacy-sse', () => {
  let fake: FakeUpstream;
  let upstream: SharedUpstream;

  const start = async (options: FakeUpstreamOptions = {}, overrides: Overrides = {}, headers = {}) => {
    fake = await startFakeUpstream({ transport: 'legacy-sse', ...options });
    upstream = create(settings.parse({ url: fake.url, headers }), upstreamDeps(overrides));
  };
  const stream = (body: string, more: ScriptedAnswer = {}): ScriptedAnswer => {
    return { contentType: 'text/event-stream', body, framing: 'chunked', cutAfter: body.length, cut: 'stall', ...more };
  };

  afterEach(async () => {
    await upstream.close();
    await fake.close();
  });

  it('sends messages to the address of the endpoint event, with the headers of the operator', async () => {
    await start({ endpoint: '/deep/er?session=1&x=%20y' }, {}, { Authorization: 'Bearer operator' });
    const connection = await upstream.connect(calm());
    fake.queue.push({ status: 202 });
    await connection.send(request(1, 'ping'));
    const [get, post] = fake.requests;
    expect(get?.headers).toMatchObject({ accept: 'text/event-stream', authorization: 'Bearer operator' });
    expect([post?.method, post?.url]).toEqual(['POST', '/deep/er?session=1&x=%20y']);
    expect(post?.body).toEqual(request(1, 'ping'));
    expect(post?.headers).toMatchObject({
      'content-type': 'application/json',
      'accept-encoding': 'identity',
      authorization: 'Bearer operator',
      host: new URL(fake.url).host,
    });
  });

  it.each([
    ['relative to the path', 'message', '/message'],
    ['a query alone', '?s=1', '/sse?s=1'],
    ['absolute', 'SELF/abs', '/abs'],
    ['with the scheme left out', 'HOST/abs', '/abs'],
  ])('takes an endpoint that is %s', async (_what, endpoint, path) => {
    await start();
    const own = new URL(fake.url);
    const data = endpoint.replace('SELF', own.origin).replace('HOST', `//${own.host}`);
    fake.queue.push(stream(`event: endpoint\ndata: ${data}\n\n`), { status: 204 });
    const connection = await upstream.connect(calm());
    await connection.send(request(1, 'ping'));
    expect(fake.requests[1]?.url).toBe(path);
  });

  it.each([
    [302, '/sse'],
    [308, '/deep/sse'],
  ])(
    'follows a redirect of its stream, reads the endpoint against it, and remembers it only if it lasts: %i',
    async (status, next) => {
      await start({ endpoint: 'message' });
      fake.respond = ({ url }) => {
        if (url === '/sse') return { status, headers: { location: '/deep/sse' } };
        return url === '/deep/message' ? { status: 307, headers: { location: '/deep/message/' } } : undefined;
      };
      for (let round = 0; round < 2; round++) {
        const connection = await upstream.connect(calm());
        // the fake knows no session of that name
        const failure = await failureOf(connection.send(request(1, 'ping')));
        expect(failure.facts.status).toBe(404);
        await connection.close();
      }
      const asked = fake.requests.map(({ method, url }) => `${method} ${url}`);
      const round = ['GET /deep/sse', 'POST /deep/message', 'POST /deep/message/'];
      expect(asked).toEqual(['GET /sse', ...round, ...(next === '/sse' ? ['GET /sse'] : []), ...round]);
    },
  );

  it('reads each endpoint against its own stream, also where two are opened at a time', async () => {
    await start();
    let node = 0;
    fake.respond = ({ method, url }) => {
      if (url === '/sse') return { status: 307, headers: { location: `/node${++node}/sse` } };
      return method === 'GET' ? stream('event: endpoint\ndata: message\n\n') : { status: 202 };
    };
    const connections = await Promise.all([upstream.connect(calm()), upstream.connect(calm())]);
    for (const connection of connections) await connection.send(request(1, 'ping'));
    const posted = fake.requests.filter(({ method }) => method === 'POST').map(({ url }) => url);
    expect(posted.toSorted()).toEqual(['/node1/message', '/node2/message']);
  });

  it.each([
    'http://127.0.0.1:1/message',
    'http://169.254.169.254/latest',
    '//evil.example/message',
    'https://127.0.0.1/message',
    'file:///etc/passwd',
    'http://user@evil.example/',
    'javascript:alert(1)',
  ])('refuses the endpoint %s', async (endpoint) => {
    await start({ endpoint });
    const failure = await failureOf(upstream.connect(calm()));
    expect(failure.code).toBe('upstream_invalid');
    expect(failure.message).not.toContain('evil');
    await until(() => fake.openConnections === 0);
    expect(fake.requests.length).toBe(1);
  });

  const rest = 'id: 7\ndata: {"first":1}\n\n';
  it.each([
    ['LF', `event: endpoint\ndata: /m\n\n${rest}`, rest],
    ['CRLF', `event: endpoint\r\ndata: /m\r\n\r\n${rest}`, rest],
    ['CR', `event: endpoint\rdata: /m\r\r${rest}`, rest],
    ['no blank after the colon', `event:endpoint\ndata:/m\n\n${rest}`, rest],
    ['the fields in another order', `data: /m\nevent: endpoint\n\n${rest}`, rest],
    [
      'a comment and another event before',
      `: hi\n\ndata: {}\n\nevent: endpoint\ndata: /m\n\n${rest}`,
      `: hi\n\ndata: {}\n\n${rest}`,
    ],
    ['a byte order mark', `\ufeffevent: endpoint\ndata: /m\n\n${rest}`, rest],
  ])('takes the endpoint event out of the stream and no other byte (%s)', async (_what, body, left) => {
    for (const chunk of [1, 5, body.length]) {
      await start();
      fake.queue.push(stream(body, { chunk, gapMs: 0, cutAfter: Buffer.byteLength(body) }), { status: 202 });
      const connection = await upstream.connect(calm());
      let text = '';
      connection.body.on('data', (part) => {
        text += String(part);
      });
      await connection.send(request(1, 'ping'));
      await until(() => text.length >= left.length);
      expect(text).toBe(left);
      expect(fake.requests[1]?.url).toBe('/m');
      await upstream.close();
      await fake.close();
    }
    await start();
  });

  it('gives up when no endpoint event comes within 16 KiB', async () => {
    await start();
    fake.queue.push(stream(`data: ${'x'.repeat(20_000)}`));
    expect((await failureOf(upstream.connect(calm()))).code).toBe('upstream_invalid');
    await until(() => fake.openConnections === 0);
  });

  it('gives up when no endpoint event comes within timeouts.upstream', async () => {
    await start({}, { timeouts: { upstream: 100 } });
    fake.queue.push(stream(': welcome\n\n'));
    const failure = await failureOf(upstream.connect(calm()));
    expect([failure.code, failure.facts.limit]).toEqual(['upstream_timeout', 'timeouts.upstream']);
    await until(() => fake.openConnections === 0);
  });

  it('gives up when the stream ends or breaks before the endpoint event', async () => {
    await start();
    fake.queue.push({ contentType: 'text/event-stream', body: 'event: endpoint\n' });
    expect((await failureOf(upstream.connect(calm()))).code).toBe('upstream_closed');
    fake.queue.push(stream('event: endpoint\n', { cut: 'rst' }));
    expect((await failureOf(upstream.connect(calm()))).code).toBe('upstream_closed');
  });

  it('gives up with the reason of its signal while it waits for the endpoint event', async () => {
    await start();
    fake.queue.push(stream(': welcome\n\n'));
    const leaving = new AbortController();
    const opening = failureOf(upstream.connect(leaving.signal));
    await until(() => fake.requests.length === 1);
    leaving.abort();
    expect((await opening).code).toBe('upstream_closed');
    await until(() => fake.openConnections === 0);
  });

  it.each([
    [404, 'upstream_refused'],
    [405, 'upstream_refused'],
    [500, 'upstream_refused'],
    [401, 'upstream_unauthorized'],
    [403, 'upstream_unauthorized'],
  ])('says which status refused the stream (%i)', async (status, code) => {
    await start();
    fake.queue.push({ status, body: 'no' });
    const failure = await failureOf(upstream.connect(calm()));
    expect([failure.code, failure.facts.status]).toEqual([code, status]);
  });

  it('refuses what is not an event stream, or a compressed one', async () => {
    await start();
    fake.queue.push({ contentType: 'application/json', body: '{}' });
    const failure = await failureOf(upstream.connect(calm()));
    expect(failure).toMatchObject({ code: 'upstream_invalid', cause: { message: 'HTTP 200, application/json: {}' } });
    expect(failure.message).not.toContain('{}');
    fake.queue.push({ contentType: 'text/event-stream', body: 'x', coding: 'gzip' });
    expect((await failureOf(upstream.connect(calm()))).code).toBe('upstream_coding');
  });

  it.each([400, 404, 413, 500, 302])('says which status refused a message (%i)', async (status) => {
    await start();
    const connection = await upstream.connect(calm());
    fake.queue.push({ status, body: 'Session not found' });
    const failure = await failureOf(connection.send(request(1, 'ping')));
    expect([failure.code, failure.facts.status]).toEqual(['upstream_refused', status]);
    // for the log
    expect(failure.cause).toHaveProperty('message', expect.stringMatching(`^HTTP ${status}\\b.*: Session not found$`));
    expect(failure.message).not.toContain('Session');
    expect(connection.body.destroyed).toBe(false);
  });

  it('ends the messages under way with the stream', async () => {
    await start();
    const connection = await upstream.connect(calm());
    connection.body.on('error', () => undefined).resume();
    fake.queue.push({ never: true });
    const sending = failureOf(connection.send(request(1, 'ping')));
    await until(() => fake.requests.length === 2);
    fake.resetConnection(0);
    expect((await sending).code).toBe('upstream_closed');
    await until(() => fake.openConnections === 0);
  });

  it('ends when the server ends the stream', async () => {
    await start();
    const body = 'event: endpoint\ndata: /m\n\ndata: {"last":1}\n\n';
    fake.queue.push({ contentType: 'text/event-stream', body });
    const connection = await upstream.connect(calm());
    const parts: unknown[] = [];
    connection.body.on('data', (part) => parts.push(part));
    await once(connection.body, 'end');
    expect(parts.join('')).toBe('data: {"last":1}\n\n');
  });

  it('takes a hundred messages at once without a warning about listeners', async () => {
    await start();
    const connection = await upstream.connect(calm());
    connection.body.resume();
    const messages = Array.from({ length: 100 }, (_, id) => request(id, 'ping'));
    const warnings = await warningsDuring(() => Promise.all(messages.map((message) => connection.send(message))));
    expect(warnings).toEqual([]);
  });
});

describe('a stream that ends with its first event', () => {
  it('ends its messages, though it has closed before there is a connection', async () => {
    let posts = 0;
    const server = createServer((asked, answer) => {
      if (asked.method === 'POST') posts += 1;
      else answer.writeHead(200, { 'content-type': 'text/event-stream' }).end('event: endpoint\ndata: /messages\n\n');
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const upstream = create(settings.parse({ url: `http://127.0.0.1:${port}/sse` }), upstreamDeps());
    try {
      const connection = await upstream.connect(calm());
      const sent = failureOf(connection.send(Buffer.from('{}'))).then(({ code }) => code);
      const arrived = until(() => posts > 0).then(() => 'it has arrived, and nothing will answer it');
      expect(await Promise.race([sent, arrived])).toBe('upstream_closed');
    } finally {
      posts += 1;
      await upstream.close();
      server.close();
    }
  });
});
