import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sha256Url } from '../../helpers/bytes.js';
import { PRINCIPAL } from '../../helpers/file-parts.js';
import { RawSocket } from '../../helpers/raw-socket.js';
import { startUploadServer, type UploadServer } from '../../helpers/upload-server.js';
import { until } from '../../helpers/wait.js';
import { bodyOf, CONTENT_TYPE, field, file } from '../../unit/http/multipart-bodies.js';

const HELLO = Buffer.from('Hello world!');
const FORM = bodyOf([field('a'), file(HELLO), field('b')]);
/** Short enough to wait for; a client that goes on must not run into it on a busy machine. */
const IDLE_MS = 3000;

let server: UploadServer;

beforeAll(async () => {
  server = await startUploadServer({ stores: 'filesystem+memory', idleMs: IDLE_MS });
});

afterAll(() => server?.stop());

const isPending = async (uri: string) => (await server.library.resolve(uri, PRINCIPAL)).kind === 'pending';

/** Until the server has seen that a client is gone. */
async function settled(): Promise<void> {
  await until(() => server.open.count === 0);
}

describe('Expect: 100-continue', () => {
  const expecting = async (path: string, headers: Record<string, string | number>) => {
    const socket = await RawSocket.open(server.port);
    socket.head(`PUT ${path}`, { Expect: '100-continue', ...headers });
    return socket;
  };

  it('is answered once the ticket is good', async () => {
    const { ticket } = await server.authorize({ size: 12 });
    const socket = await expecting(`/u/${ticket}`, { 'Content-Length': 12 });
    expect(await socket.until(/\r\n\r\n/)).toBe('HTTP/1.1 100 Continue\r\n\r\n');
    socket.send(HELLO);
    expect(await socket.toEnd()).toMatch(/HTTP\/1\.1 201 Created\r\n[\s\S]*"completed"/);
  });

  it.each<[string, object, Record<string, string | number>, number]>([
    ['the file is too large', { maxSize: 11 }, { 'Content-Length': 12 }, 413],
    ['the size is not what was announced', { size: 11 }, { 'Content-Length': 12 }, 422],
    ['the body is compressed', {}, { 'Content-Length': 12, 'Content-Encoding': 'br' }, 415],
    ['the form cannot be read', {}, { 'Content-Length': 12, 'Content-Type': 'multipart/form-data' }, 400],
    [
      'the form cannot hold a file that small',
      { maxSize: 11 },
      { 'Content-Length': 1e8, 'Content-Type': CONTENT_TYPE },
      413,
    ],
  ])('is refused before the body when %s', async (_why, intent, headers, status) => {
    const { ticket, uri } = await server.authorize(intent);
    const socket = await expecting(`/u/${ticket}`, headers);
    const said = await socket.toEnd();
    expect(said).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(said).toMatch(/\r\nconnection: close\r\n/i);
    expect(await isPending(uri)).toBe(true);
  });

  it('is refused before the body when the ticket is unknown or used', async () => {
    const { ticket, url } = await server.authorize();
    await fetch(url, { method: 'PUT', body: HELLO });
    expect(await (await expecting(`/u/${ticket}`, { 'Content-Length': 12 })).toEnd()).toMatch(/^HTTP\/1\.1 409 /);
    expect(await (await expecting('/u/x', { 'Content-Length': 12 })).toEnd()).toMatch(/^HTTP\/1\.1 404 /);
  });

  it.each([
    ['?finish', { several: { least: 1, most: 2 } }, '[]', 400],
    ['?unlock', { isForPerson: true as const }, 'code=123456', 403],
  ])('is answered where a link with %s has a body of another kind', async (query, intent, body, status) => {
    const { ticket } = await server.authorize(intent);
    const socket = await RawSocket.open(server.port);
    const type = { 'Content-Type': 'application/x-www-form-urlencoded' };
    socket.head(`POST /u/${ticket}${query}`, { Expect: '100-continue', 'Content-Length': body.length, ...type });
    expect(await socket.until(/\r\n\r\n/)).toBe('HTTP/1.1 100 Continue\r\n\r\n');
    socket.send(body);
    expect(await socket.toEnd()).toMatch(new RegExp(`HTTP/1\\.1 ${status} `));
  });

  it('is answered at once on every other route', async () => {
    const socket = await expecting('/elsewhere', { 'Content-Length': 0 });
    expect(await socket.toEnd()).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 404 /);
  });
});

describe('a connection that breaks', () => {
  it('at any byte of a form stores nothing, and the form can be sent again', async () => {
    const { ticket, url, uri } = await server.authorize();
    const before = await server.keys();
    for (let at = 0; at < FORM.length; at += 1) {
      const socket = await RawSocket.open(server.port);
      socket.head(`POST /u/${ticket}`, { 'Content-Type': CONTENT_TYPE, 'Content-Length': FORM.length });
      socket.send(FORM.subarray(0, at));
      // an end that says so, and one that does not
      if (at % 2 === 0) socket.end();
      else socket.reset();
      await socket.toEnd();
    }
    await settled();
    expect(await server.keys()).toEqual(before);
    expect(await isPending(uri)).toBe(true);
    expect(server.budget.used).toBe(0);
    const response = await fetch(url, { method: 'POST', body: FORM, headers: { 'content-type': CONTENT_TYPE } });
    expect(response.status).toBe(201);
    expect(await server.digestOf(uri)).toBe(sha256Url(HELLO));
  });

  it('in a later part, or without its last chunk, stores nothing', async () => {
    const { ticket, uri } = await server.authorize();
    const before = await server.keys();
    const long = await RawSocket.open(server.port);
    long.head(`PUT /u/${ticket}`, { 'Content-Length': 8_000_000 });
    long.send(Buffer.alloc(5_000_000));
    const chunked = await RawSocket.open(server.port);
    chunked.head(`PUT /u/${ticket}`, { 'Transfer-Encoding': 'chunked' });
    chunked.send('c\r\nHello world!\r\n');
    await new Promise((resolve) => setTimeout(resolve, 100));
    long.reset();
    chunked.end();
    await chunked.toEnd();
    await settled();
    expect(await server.keys()).toEqual(before);
    expect(await server.objects.removeUnfinished(Number.POSITIVE_INFINITY)).toBe(0);
    expect(await isPending(uri)).toBe(true);
  });
});

describe('a Content-Length that is wrong', () => {
  it('too long: the upload is cut off when the client ends', async () => {
    const { ticket, uri } = await server.authorize();
    const socket = await RawSocket.open(server.port);
    socket.head(`PUT /u/${ticket}`, { 'Content-Length': 13 });
    socket.send(HELLO);
    socket.end();
    await socket.toEnd();
    await settled();
    expect(await isPending(uri)).toBe(true);
  });

  it('too short: what is left over is no part of any file', async () => {
    const { ticket, uri } = await server.authorize({ size: 11 });
    const socket = await RawSocket.open(server.port);
    socket.head(`PUT /u/${ticket}`, { 'Content-Length': 11 });
    socket.send(HELLO);
    expect(await socket.toEnd()).toMatch(/HTTP\/1\.1 400 /);
    await settled();
    // the connection breaks before the answer, which may be after the file is stored
    expect([undefined, sha256Url(HELLO.subarray(0, 11))]).toContain(await server.digestOf(uri));
  });

  it('too short for a form: refused', async () => {
    const { ticket, uri } = await server.authorize();
    const socket = await RawSocket.open(server.port);
    socket.head(`POST /u/${ticket}`, { 'Content-Type': CONTENT_TYPE, 'Content-Length': FORM.length - 5 });
    socket.send(FORM);
    expect(await socket.toEnd()).toMatch(/^HTTP\/1\.1 400 /);
    await settled();
    expect(await isPending(uri)).toBe(true);
  });
});

describe('a body that could be read in two ways', () => {
  it.each<[string, [string, string][], number]>([
    [
      'two Content-Types',
      [
        ['Content-Type', CONTENT_TYPE],
        ['Content-Type', 'text/plain'],
        ['Content-Length', '12'],
      ],
      400,
    ],
    ['a transfer coding under chunked', [['Transfer-Encoding', 'gzip, chunked']], 415],
    [
      'a length and chunks',
      [
        ['Transfer-Encoding', 'chunked'],
        ['Content-Length', '12'],
      ],
      400,
    ],
    [
      'two lengths',
      [
        ['Content-Length', '12'],
        ['Content-Length', '13'],
      ],
      400,
    ],
  ])('is refused: %s (G24)', async (_what, headers, status) => {
    const { ticket, uri } = await server.authorize();
    const socket = await RawSocket.open(server.port);
    socket.head(`PUT /u/${ticket}`, headers);
    expect(await socket.until(/\r\n\r\n/)).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    socket.reset();
    expect(await isPending(uri)).toBe(true);
  });
});

describe('time', () => {
  it('a client that falls silent is told so, and leaves nothing', async () => {
    const { ticket, uri } = await server.authorize();
    const socket = await RawSocket.open(server.port);
    socket.head(`PUT /u/${ticket}`, { 'Content-Length': 12 });
    socket.send('Hello');
    expect(await socket.until(/idle/)).toMatch(/^HTTP\/1\.1 504 [\s\S]*timeouts\.idle/);
    await settled();
    expect(await isPending(uri)).toBe(true);
    expect(server.budget.used).toBe(0);
    socket.reset();
  });

  it('a client that is slow, but never silent, is waited for', async () => {
    const { ticket, uri } = await server.authorize();
    const socket = await RawSocket.open(server.port);
    socket.head(`PUT /u/${ticket}`, { 'Content-Length': 12 });
    for (const byte of HELLO) {
      socket.send(Buffer.of(byte));
      await new Promise((resolve) => setTimeout(resolve, IDLE_MS / 8));
    }
    expect(await socket.until(/completed/)).toMatch(/^HTTP\/1\.1 201 /);
    expect(await server.digestOf(uri)).toBe(sha256Url(HELLO));
    socket.end();
  });
});
