import { type IncomingHttpHeaders, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type FakeUpstream, startFakeUpstream } from '../../helpers/fake-upstream.js';
import { gauge } from '../../helpers/fault-checks.js';
import { freePorts } from '../../helpers/gateway-process-ports.js';
import { RawClient } from '../../helpers/raw-client.js';
import { RawSocket } from '../../helpers/raw-socket.js';
import { until } from '../../helpers/wait.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

let fake: FakeUpstream;
let wharf: Wharf;
/** The public port itself: links are made from publicUrl. */
let port: string;

beforeAll(async () => {
  fake = await startFakeUpstream({ transport: 'sse', session: true });
  const [free] = await freePorts(1);
  port = `http://127.0.0.1:${free}`;
  wharf = await startWharf({
    servers: { fake: { url: fake.url } },
    config: {
      listen: `127.0.0.1:${free}`,
      publicUrl: 'https://mcp.example.com',
      allowedHosts: ['inside:8080'],
      allowedOrigins: ['https://app.example.com'],
    },
  });
});

afterAll(async () => {
  await wharf?.stop();
  await fake?.close();
});

/** A request with exactly these headers; as a list, name and value in turn, they can repeat. */
function raw(
  base: string,
  path: string,
  headers: Record<string, string> | string[],
  method = 'GET',
): Promise<{ status: number; headers: IncomingHttpHeaders; body: string }> {
  const { hostname, port } = new URL(base);
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, path, method, headers, setHost: false }, (response) => {
      const { statusCode: status = 0, headers } = response;
      text(response).then((body) => resolve({ status, headers, body }), reject);
    });
    sent.on('error', reject);
    sent.end();
  });
}

async function statusOf(...asked: Parameters<typeof raw>): Promise<number> {
  return (await raw(...asked)).status;
}

const FACES = ['public', 'admin'] as const;
const base = (face: (typeof FACES)[number]) => (face === 'public' ? port : wharf.adminUrl);

describe.each(FACES)('the %s port', (face) => {
  const paths = face === 'public' ? ['/mcp', '/d/x', '/nothing'] : ['/healthz', '/readyz', '/metrics', '/'];

  it.each(['localhost:99999', '[::1]:65536'])('says why it does not answer to the Host %s', async (host) => {
    for (const path of paths) {
      const { status, body } = await raw(base(face), path, { host });
      expect(status).toBe(400);
      expect(body).toContain('above 65535');
    }
  });

  it.each([
    ['evil.example', undefined],
    ['evil.example:8080', undefined],
    ['127.0.0.1.evil.example', undefined],
    ['mcp.example.com.evil.example', undefined],
    ['localhost', 'https://evil.example'],
    ['localhost', 'null'],
    ['localhost', 'http://localhost.evil.example'],
    ['mcp.example.com', 'http://evil.example'],
    // another scheme or port is another site
    ['mcp.example.com', 'http://mcp.example.com'],
    ['mcp.example.com', 'https://mcp.example.com:8443'],
    ['localhost', 'http://localhost:666'],
    ['localhost', 'http://127.0.0.1'],
    ['127.0.0.1', 'https://127.0.0.1'],
    ['inside:8080', 'http://inside:8080'],
    ['localhost', 'http://10.1.2.3:9090'],
  ])('refuses Host %s with Origin %s on every route (BASE-13)', async (host, origin) => {
    for (const path of paths) {
      for (const method of ['GET', 'POST', 'DELETE', 'OPTIONS']) {
        const headers: Record<string, string> = origin === undefined ? { host } : { host, origin };
        expect([path, method, await statusOf(base(face), path, headers, method)]).toEqual([path, method, 403]);
      }
    }
  });

  it.each([
    ['localhost:1234', undefined],
    ['127.0.0.1', undefined],
    ['[::1]:8080', undefined],
    ['MCP.example.com', undefined],
    ['inside:8080', undefined],
    ['mcp.example.com', 'https://mcp.example.com'],
    ['mcp.example.com', 'https://app.example.com'],
    ['localhost', 'http://localhost:OWN'],
    ['127.0.0.1', 'http://127.0.0.1:OWN'],
    ['[::1]:1234', 'http://[::1]:OWN'],
  ])('lets Host %s with Origin %s in', async (host, named) => {
    const origin = named?.replace('OWN', new URL(base(face)).port);
    const headers: Record<string, string> = origin === undefined ? { host } : { host, origin };
    expect(await statusOf(base(face), paths[0] as string, headers)).not.toBe(403);
  });

  it('says which Host or Origin it refuses, and what lists those it has', async () => {
    const told = async (headers: Record<string, string>): Promise<string> =>
      (await raw(base(face), paths[0] as string, headers)).body;
    expect(await told({ host: 'wharf.internal:80' })).toMatch(/Host \\"wharf\.internal:80\\".*allowedHosts.*publicUrl/);
    expect(await told({ host: 'localhost', origin: 'https://app.internal' })).toMatch(
      /\\"https:\/\/app\.internal\\".*allowedOrigins/,
    );
    const long = await told({ host: 'x'.repeat(5000) });
    expect(long.length).toBeLessThan(500);
  });

  it('refuses two Hosts and two Origins (G15)', async () => {
    const { status, body } = await raw(base(face), '/', ['host', 'localhost', 'host', 'localhost']);
    expect([status, body]).toEqual([400, expect.stringContaining('it has 2 Host headers')]);
    const twice = ['host', 'localhost', 'origin', 'http://localhost', 'origin', 'http://localhost'];
    expect(await statusOf(base(face), '/', twice)).toBe(403);
  });

  it('refuses a request without a Host, and says so (G15)', async () => {
    const { status, headers, body } = await raw(base(face), '/', []);
    expect([status, body]).toEqual([400, expect.stringContaining('it has no Host header')]);
    expect(headers['x-content-type-options']).toBe('nosniff');
  });

  it('checks a request that expects what Wharf does not know like any other, and closes the connection (G15)', async () => {
    for (const [host, line] of [
      ['localhost', '404 Not Found'],
      ['evil.example', '403 Forbidden'],
    ]) {
      const socket = await RawSocket.open(Number(new URL(base(face)).port));
      socket.send(`POST /nothing HTTP/1.1\r\nHost: ${host}\r\nExpect: a-miracle\r\nContent-Length: 2\r\n\r\n`);
      await socket.until(/\r\n\r\n/);
      socket.send(`{}POST /nothing HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
      expect((await socket.toEnd()).match(/HTTP\/1\.1 .*(?=\r)/g)).toEqual([`HTTP/1.1 ${line}`]);
    }
  });

  it('checks every header of a request, also behind a thousand others (G15)', async () => {
    const many = Array.from({ length: 2000 }, () => 'a:\r\n').join('');
    const answerTo = async (last: string) => {
      const socket = await RawSocket.open(Number(new URL(base(face)).port));
      socket.send(`GET /nothing HTTP/1.1\r\nHost: localhost\r\n${many}${last}\r\n\r\n`);
      const answer = await socket.until(/\r\n\r\n/);
      socket.reset();
      return answer.slice(0, answer.indexOf('\r'));
    };
    expect(await answerTo('Origin: https://evil.example')).toBe('HTTP/1.1 403 Forbidden');
    expect(await answerTo('Host: evil.example')).toBe('HTTP/1.1 400 Bad Request');
    expect(await answerTo('b:')).toBe('HTTP/1.1 404 Not Found');
  });

  it.each([
    'ftp://localhost/mcp',
    'http://user@localhost/mcp',
    'http:///mcp',
    'http://localhost//mcp',
    'http://localhost/x/../mcp',
    '//evil.example/mcp',
    '/mcp\\..\\x',
    '/x/../mcp',
    '/./mcp',
    '/x/%2E%2e/mcp',
    '/mcp/.%2e',
    '/mcp/..?x',
  ])('refuses the target %s', async (path) => {
    const { status, body } = await raw(base(face), path, { host: 'localhost' });
    expect([status, body]).toEqual([400, expect.stringContaining('must be a path, or an http URL without a user')]);
  });

  it('takes a whole URL for a target, whose host is the one that is judged (RFC 9112, section 3.2.2)', async () => {
    const own = { host: 'localhost' };
    for (const [target, path] of [
      ['http://localhost/nothing', '/nothing'],
      ['HTTPS://[::1]:8443/nothing?x=http://evil.example', '/nothing'],
      ['http://127.0.0.1?x', '/?x'],
    ] as const) {
      const { status, body } = await raw(base(face), path, own);
      for (const host of ['localhost', 'evil.example'])
        expect(await raw(base(face), target, { host })).toMatchObject({ status, body });
    }
    const foreign = await raw(base(face), 'http://evil.example/nothing', own);
    expect([foreign.status, foreign.body]).toEqual([403, expect.stringContaining('evil.example')]);
    for (const headers of [[], ['host', 'localhost', 'host', 'localhost']])
      expect(await statusOf(base(face), 'http://localhost/nothing', headers)).toBe(400);
  });

  it('takes dots within a name and a query', async () => {
    for (const path of ['/..x/y', '/x/...', '/x?a=/../b'])
      expect(await statusOf(base(face), path, { host: 'localhost' })).toBe(404);
  });

  it('does not answer a page of another site by a way that begins where clients log in', async () => {
    const headers = { host: 'localhost', origin: 'https://evil.example' };
    for (const begin of ['oauth-protected-resource', 'oauth-authorization-server'])
      for (const path of paths)
        expect(await statusOf(base(face), `/.well-known/${begin}/../..${path}`, headers)).toBe(400);
  });

  it('takes no chunks in HTTP/1.0, and closes the connection', async () => {
    const socket = await RawSocket.open(Number(new URL(base(face)).port));
    const next = 'GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n';
    socket.send(
      `POST /mcp HTTP/1.0\r\nHost: localhost\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${next}`,
    );
    const answers = await socket.toEnd();
    expect(answers.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 400']);
  });
});

it('a message to a whole URL reaches the server that its path names', async () => {
  const socket = await RawSocket.open(Number(new URL(port).port));
  const body =
    '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}';
  socket.send(
    `POST https://mcp.example.com/mcp HTTP/1.1\r\nHost: proxy.example\r\nAccept: application/json, text/event-stream\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: ${body.length}\r\n\r\n`,
  );
  expect(await socket.until(/\r\n\r\n/)).toMatch(/^HTTP\/1\.1 100 /);
  socket.send(body);
  expect(await socket.toEnd()).toMatch(/\r\nHTTP\/1\.1 200 .*"protocolVersion"/s);
});

describe('a page of another site', () => {
  const HOST = { host: 'mcp.example.com' };
  const LISTED = { ...HOST, origin: 'https://app.example.com' };
  const ASKING = { 'access-control-request-method': 'POST' };
  const ofCors = (headers: IncomingHttpHeaders) =>
    Object.fromEntries(Object.entries(headers).filter(([name]) => /^access-control-|^vary$/.test(name)));
  const READ = {
    'access-control-allow-origin': 'https://app.example.com',
    'access-control-expose-headers': '*',
    vary: 'Origin',
  };

  it.each(['/mcp', '/d/x', '/u/x', '/nothing'])('may call %s and read the answer, where it is listed', async (path) => {
    for (const method of ['GET', 'POST', 'DELETE', 'OPTIONS']) {
      const { status, headers } = await raw(port, path, LISTED, method);
      expect([method, status, ofCors(headers)]).toEqual([method, expect.any(Number), READ]);
      expect(status).not.toBe(403);
    }
  });

  it.each(['/mcp', '/d/x', '/u/x'])('hears before its requests to %s what it may send', async (path) => {
    const { status, headers, body } = await raw(port, path, { ...LISTED, ...ASKING }, 'OPTIONS');
    expect([status, body]).toEqual([204, '']);
    expect(ofCors(headers)).toEqual({
      ...READ,
      'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
      'access-control-allow-headers': '*, Authorization',
      'access-control-max-age': '7200',
    });
  });

  it('reads nothing where it is not listed, and programs see nothing of this (BASE-13)', async () => {
    for (const headers of [{ ...HOST, origin: 'https://evil.example' }, { ...HOST, origin: 'null' }, HOST]) {
      for (const method of ['POST', 'OPTIONS']) {
        const answer = await raw(port, '/mcp', { ...headers, ...ASKING }, method);
        expect([headers, answer.status < 300, ofCors(answer.headers)]).toEqual([headers, false, {}]);
      }
    }
  });

  it('reads nothing on the admin port, also where it is listed', async () => {
    for (const method of ['GET', 'OPTIONS']) {
      const { headers } = await raw(wharf.adminUrl, '/metrics', { ...LISTED, ...ASKING }, method);
      expect(ofCors(headers)).toEqual({});
    }
  });
});

describe('the admin port', () => {
  it('answers to any IP address, by which kubelets and Prometheus reach it, and to a page of its own there', async () => {
    const mapped = '[::ffff:10.1.2.3]';
    for (const host of ['10.1.2.3:18801', '203.0.113.7', '[2001:db8::7]:9090', '[2001:DB8:0:0::7]:9090', mapped])
      expect(await statusOf(wharf.adminUrl, '/metrics', { host })).toBe(200);
    expect(await statusOf(wharf.adminUrl, '/metrics', { host: '10.1.2.3:9090', origin: 'http://10.1.2.3:9090' })).toBe(
      200,
    );
    expect(await statusOf(wharf.adminUrl, '/metrics', { host: '10.1.2.3:9090', origin: 'http://10.1.2.3:9091' })).toBe(
      403,
    );
    expect(await statusOf(wharf.adminUrl, '/metrics', { host: 'evil.example:9090' })).toBe(403);
    expect(await statusOf(port, '/mcp', { host: '10.1.2.3:18801' })).toBe(403);
  });

  it('says in a terminal what it is; a program that asks for JSON is told that there is nothing', async () => {
    const answer = await fetch(wharf.adminUrl);
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('metrics at /metrics')]);
    expect((await fetch(wharf.adminUrl, { headers: { accept: 'application/json' } })).status).toBe(404);
  });

  it('says that it lives, is ready, and what it has done', async () => {
    // of what has not happened yet there is no number
    const files = async () => (await gauge(wharf.adminUrl, 'wharf_files_total{server="fake"}')) || 0;
    const before = await files();
    const client = await RawClient.connect(`${port}/mcp`);
    await client.call('blob', { size: 1_000_000 });
    expect(await (await fetch(`${wharf.adminUrl}/healthz`)).json()).toEqual({ status: 'ok' });
    const ready = async () => (await fetch(`${wharf.adminUrl}/readyz`)).json() as Promise<{ previews: string }>;
    expect((await fetch(`${wharf.adminUrl}/readyz`)).status).toBe(200);
    await until(async () => (await ready()).previews === 'ok');
    expect(await ready()).toEqual({
      status: 'ready',
      parts: { objects: 'ok', state: 'ok' },
      previews: 'ok',
      servers: { fake: 'ok' },
    });
    const metrics = async () => (await fetch(`${wharf.adminUrl}/metrics`)).text();
    expect(await files()).toBe(before + 1);
    expect(await metrics()).toMatch(/wharf_server_up\{server="fake"\} 1/);
    // what an exchange had is given back once it is over, which its client may see first
    await until(async () => /^wharf_held_bytes 0$/m.test(await metrics()));
    await until(async () => /^wharf_part_memory_bytes 0$/m.test(await metrics()));
  });

  it('is not reachable on the public port, nor the reverse', async () => {
    expect((await fetch(`${port}/metrics`)).status).toBe(404);
    expect((await fetch(`${wharf.adminUrl}/mcp`, { method: 'POST' })).status).toBe(404);
  });
});

describe('the log', () => {
  it('has one line for each exchange, and no ticket in any', async () => {
    const client = await RawClient.connect(`${port}/mcp`);
    const { result } = await client.call('blob', { size: 1_000_000, seed: 17 });
    const link = JSON.stringify(result).match(/https:\/\/mcp\.example\.com\/d\/([\w-]{43})/);
    const ticket = link?.[1] ?? '';
    expect(ticket).toHaveLength(43);
    expect((await fetch(`${port}/d/${ticket}`)).status).toBe(200);
    const line = wharf.lines.filter(({ text }) => text === 'exchange').at(-1);
    expect(line?.fields).toMatchObject({
      server: 'fake',
      method: 'tools/call',
      name: 'blob',
      status: 200,
      files: 1,
      fileBytes: 1_000_000,
      bytesIn: expect.any(Number),
      bytesOut: expect.any(Number),
      ms: expect.any(Number),
    });
    expect(wharf.logged()).not.toContain(ticket);
    expect(wharf.logged()).not.toContain(client.session);
  });
});
