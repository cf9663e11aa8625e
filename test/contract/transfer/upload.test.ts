import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { GatewayError } from '../../../gateway/errors.js';
import type { Transfer, UploadRequest } from '../../../gateway/ports/transfer.js';
import { sha256, someBytes } from '../../helpers/bytes.js';
import { until } from '../../helpers/wait.js';
import { calm, failureOf, fileOf, type Peer, rules, startPeer, transferTo } from './peer.js';

let peer: Peer;
let transfer: Transfer;

beforeAll(async () => {
  peer = await startPeer();
  transfer = transferTo(peer);
});
afterAll(async () => {
  await transfer.close();
  await peer.close();
});

const FILE = 'Hello world!';

function upload(overrides: Partial<UploadRequest> = {}, signal = calm()) {
  const request = { url: `${peer.https}/up?sig=a%2Fb`, method: 'PUT' as const, file: fileOf(FILE), rules: rules(peer) };
  return transfer.upload({ ...request, ...overrides }, signal);
}

/** A form that was sent, with its random boundary replaced. */
function formSent(): string {
  const [sent] = peer.seen;
  const boundary = /^multipart\/form-data; boundary=(wharf-[0-9a-f]{48})$/.exec(
    sent?.headers['content-type'] ?? '',
  )?.[1];
  if (boundary === undefined) throw new Error(`no boundary in ${sent?.headers['content-type']}`);
  expect(sent?.headers['content-length']).toBe(String(sent?.body.length));
  return (sent?.body.toString() ?? '').replaceAll(boundary, 'BOUNDARY');
}

describe('an upload (2631-31)', () => {
  it.each(['PUT', 'POST'] as const)('%s of the raw bytes', async (method) => {
    peer.answer((_request, response) => response.writeHead(201).end('{"ok":true}'));
    const answer = await upload({ method, headers: { 'X-Meta': 'yes' } });
    expect(answer).toEqual({ status: 201, body: Buffer.from('{"ok":true}') });
    expect(peer.seen).toMatchObject([{ method, url: '/up?sig=a%2Fb', body: Buffer.from(FILE) }]);
    // 2631-34: nothing else
    expect(peer.seen[0]?.headers).toEqual({
      accept: '*/*',
      'accept-encoding': 'identity',
      connection: 'close',
      'content-length': '12',
      'content-type': 'text/plain',
      host: new URL(peer.https).host,
      'user-agent': 'Wharf',
      'x-meta': 'yes',
    });
  });

  it('over http to the own host, with the Authorization and the Content-Type of the descriptor', async () => {
    peer.answer((_request, response) => response.writeHead(204).end());
    const headers = { Authorization: 'Bearer theirs', 'content-type': 'application/pdf' };
    const { status } = await upload({
      url: `${peer.http}/x`,
      headers,
      rules: rules(peer, { ownOrigin: peer.http }),
    });
    expect(status).toBe(204);
    expect(peer.seen[0]?.headers).toMatchObject({ authorization: 'Bearer theirs', 'content-type': 'application/pdf' });
    expect(peer.seen[0]?.rawHeaders.filter((name) => /^content-type$/i.test(name))).toHaveLength(1);
  });

  it('of a form: the fields in their order, then the file, byte for byte', async () => {
    peer.answer((_request, response) => response.writeHead(204).end());
    const fields = { key: 'uploads/2026/{name}', policy: 'eyJ9\r\n--x', 'x-amz-signature': 'ü', 'a"b': '' };
    await upload({ method: 'POST', multipart: { fileField: 'file', fields } });
    expect(formSent()).toBe(
      [
        '--BOUNDARY',
        'Content-Disposition: form-data; name="key"',
        '',
        'uploads/2026/{name}',
        '--BOUNDARY',
        'Content-Disposition: form-data; name="policy"',
        '',
        'eyJ9',
        '--x',
        '--BOUNDARY',
        'Content-Disposition: form-data; name="x-amz-signature"',
        '',
        'ü',
        '--BOUNDARY',
        'Content-Disposition: form-data; name="a%22b"',
        '',
        '',
        '--BOUNDARY',
        'Content-Disposition: form-data; name="file"; filename="file.txt"',
        'Content-Type: text/plain',
        '',
        FILE,
        '--BOUNDARY--',
        '',
      ].join('\r\n'),
    );
  });

  it.each([
    ['N1', 'Report (v2); final.pdf', 'Report (v2); final.pdf'],
    ['N2', 'отчёт 文档.pdf', 'отчёт 文档.pdf'],
    ['a quote and a line break', 'a"b\r\nX-Evil: 1.pdf', 'a%22b%0D%0AX-Evil: 1.pdf'],
  ])('the file name %s (1306-24)', async (_id, name, sent) => {
    peer.answer((_request, response) => response.writeHead(204).end());
    await upload({ method: 'POST', multipart: { fileField: 'document' }, file: fileOf(FILE, name, 'application/pdf') });
    expect(formSent()).toBe(
      `--BOUNDARY\r\nContent-Disposition: form-data; name="document"; filename="${sent}"\r\n` +
        `Content-Type: application/pdf\r\n\r\n${FILE}\r\n--BOUNDARY--\r\n`,
    );
  });

  it('the Content-Type of a form is our own (2631-32)', async () => {
    peer.answer((_request, response) => response.writeHead(204).end());
    const headers = { 'Content-Type': 'multipart/form-data', 'X-Other': 'stays' };
    await upload({ method: 'PUT', headers, multipart: { fileField: 'file' } });
    expect(formSent()).toContain(FILE);
    expect(peer.seen[0]).toMatchObject({ method: 'PUT', headers: { 'x-other': 'stays' } });
  });

  it('of nothing, and of a type that no header can carry', async () => {
    peer.answer((_request, response) => response.writeHead(204).end());
    await upload({ file: fileOf('', 'x', 'text/plain\r\nX-Evil: 1') });
    expect(peer.seen[0]?.headers).toMatchObject({ 'content-length': '0', 'content-type': 'application/octet-stream' });
    expect(peer.seen[0]?.headers).not.toHaveProperty('x-evil');
  });

  it('of 20 MB to a slow reader, in pieces of any size', async () => {
    const bytes = someBytes(20_000_000);
    const digest = createHash('sha256');
    peer.answer(
      async (request, response) => {
        for await (const chunk of request as AsyncIterable<Buffer>) {
          digest.update(chunk);
          await new Promise((resolve) => setImmediate(resolve));
        }
        response.writeHead(200).end();
      },
      { early: true },
    );
    const limits = rules(peer, { maxBytes: bytes.length });
    expect(await upload({ file: fileOf(bytes, 'x', 'a/b', 777_777), rules: limits })).toMatchObject({ status: 200 });
    expect(digest.digest('hex')).toBe(sha256(bytes));
  });

  it.each([401, 408, 409, 413, 422, 500])('a refusal (%i) is told as it is', async (status) => {
    peer.answer((_request, response) => response.writeHead(status, { 'Content-Encoding': 'gzip' }).end('coded'));
    expect(await upload()).toEqual({ status, body: Buffer.alloc(0) });
    peer.answer((_request, response) => response.writeHead(status).end('plain'));
    expect(await upload()).toEqual({ status, body: Buffer.from('plain') });
  });

  it('an answer is kept up to 64 KiB', async () => {
    peer.answer((_request, response) => response.end(Buffer.alloc(1_000_000, 'x')));
    expect((await upload()).body).toEqual(Buffer.alloc(64 * 1024, 'x'));
  });

  it.each([301, 302, 303, 307, 308])('a redirect (%i) is not followed', async (status) => {
    peer.answer((_request, response) => response.writeHead(status, { Location: '/elsewhere?s3cret' }).end());
    const failure = await failureOf(upload());
    expect(failure).toMatchObject({ code: 'fetch_failed', facts: { status } });
    expect(peer.seen).toHaveLength(1);
  });

  it('a compressed answer is an error', async () => {
    peer.answer((_request, response) => response.writeHead(200, { 'Content-Encoding': 'gzip' }).end('x'));
    expect(await failureOf(upload())).toMatchObject({ code: 'fetch_failed' });
  });
});

describe('an upload that must not be', () => {
  it('is refused when the file is larger than the rules allow, before the server is asked', async () => {
    peer.answer((_request, response) => response.end());
    const failure = await failureOf(upload({ rules: rules(peer, { maxBytes: 11 }) }));
    expect(failure).toMatchObject({ code: 'fetch_too_large', facts: { allowed: 11, actual: 12 } });
    expect(peer.connections()).toBe(0);
  });

  it.each<[string, Record<string, string>]>([
    ['too many fields', Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`f${index}`, 'x']))],
    ['too long fields', { policy: 'x'.repeat(300_000) }],
    ['a field that is no text', { policy: 1 as unknown as string }],
  ])('is refused with %s', async (_name, fields) => {
    const failure = await failureOf(upload({ method: 'POST', multipart: { fileField: 'file', fields } }));
    expect(failure.code).toBe('fetch_forbidden');
  });
});

describe('an upload that goes wrong', () => {
  /** Resolves when the request's body has broken off. */
  const broken = (request: IncomingMessage) =>
    new Promise<void>((resolve) => {
      request.on('close', () => {
        if (!request.complete) resolve();
      });
      request.resume();
    });

  it('a source that fails breaks the request, and its own error is what comes back', async () => {
    const error = new GatewayError('store_unavailable');
    let seen: Promise<void> | undefined;
    peer.answer(
      (request) => {
        seen = broken(request);
      },
      { early: true },
    );
    const file = {
      ...fileOf(FILE),
      async *read() {
        yield Buffer.from('Hello');
        await until(() => seen !== undefined);
        throw error;
      },
    };
    await expect(upload({ file })).rejects.toBe(error);
    await seen;
  });

  it.each([
    ['fewer', 'Hello'],
    ['more', 'Hello world! and more'],
  ])('a source that gives %s bytes than it said', async (_name, content) => {
    peer.answer((request) => void request.resume(), { early: true });
    const failure = await failureOf(upload({ file: { ...fileOf(content), size: 12 } }));
    expect(failure.code).toBe('internal');
  });

  it('nothing is sent behind the announced length, where it would be read as another request', async () => {
    const received: Buffer[] = [];
    let ended = false;
    const server = createServer((socket) => {
      socket.on('data', (chunk: Buffer) => received.push(chunk));
      socket.on('error', () => undefined);
      socket.on('close', () => {
        ended = true;
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const text = () => Buffer.concat(received).toString();
    const file = {
      ...fileOf(FILE),
      async *read() {
        yield Buffer.from(FILE);
        await until(() => text().endsWith(`\r\n\r\n${FILE}`));
        yield Buffer.from('GET /secret HTTP/1.1\r\n\r\n');
        // long enough to have been sent
        await new Promise((resolve) => setTimeout(resolve, 100));
      },
    };
    await failureOf(upload({ url, file, rules: rules(peer, { ownOrigin: url }) }));
    await until(() => ended);
    server.close();
    expect(text()).toMatch(/\r\n\r\nHello world!$/);
  });

  it('a refusal before the end is read, and the rest of the file stays where it is', async () => {
    let closed = false;
    peer.answer(
      (request, response) => {
        request.socket.on('close', () => {
          closed = true;
        });
        response.writeHead(413).end('too big for us');
      },
      { early: true },
    );
    let given = 0;
    let returned = false;
    const size = 50_000_000;
    const file = {
      ...fileOf(''),
      size,
      async *read() {
        try {
          for (; given < size; given += 50_000) yield Buffer.alloc(50_000);
        } finally {
          returned = true;
        }
      },
    };
    const answer = await upload({ file, rules: rules(peer, { maxBytes: size }) });
    expect(answer).toEqual({ status: 413, body: Buffer.from('too big for us') });
    await until(() => returned && closed);
    expect(given).toBeLessThan(size);
  });

  it('a peer that refuses and then neither reads nor closes costs no connection', async () => {
    const sockets = () => process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => {
        socket.pause();
        socket.write('HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno');
      });
      open = () => socket.destroy();
    });
    let open = (): unknown => undefined;
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const before = sockets();
    const limits = rules(peer, { ownOrigin: url, maxBytes: 1e9 });
    const answer = await upload({ url, file: fileOf(Buffer.alloc(50_000_000), 'x', 'a/b', 5_000_000), rules: limits });
    expect(answer).toEqual({ status: 413, body: Buffer.from('no') });
    // the peer's own end stays
    await until(() => sockets() <= before + 1);
    open();
    server.close();
  });

  it('a peer that says yes before it has the whole file is not believed', async () => {
    peer.answer((_request, response) => response.writeHead(200).end(), { early: true });
    const bytes = Buffer.alloc(50_000_000);
    const failure = await failureOf(upload({ file: fileOf(bytes), rules: rules(peer, { maxBytes: bytes.length }) }));
    expect(failure.code).toBe('fetch_failed');
  });

  it('a peer that stops reading is ended', async () => {
    peer.answer((request) => void request.pause(), { early: true });
    const bytes = Buffer.alloc(50_000_000);
    const timeouts = { connect: 5000, idle: 300, total: 20_000 };
    const failure = await failureOf(upload({ file: fileOf(bytes), rules: rules(peer, { maxBytes: 1e9, timeouts }) }));
    expect(failure).toMatchObject({ code: 'fetch_timeout', facts: { limit: 'timeouts.idle', allowed: 300 } });
  });

  it('a peer that never answers is ended', async () => {
    peer.answer((request) => void request.resume(), { early: true });
    const timeouts = { connect: 5000, idle: 300, total: 20_000 };
    const failure = await failureOf(upload({ rules: rules(peer, { timeouts }) }));
    expect(failure).toMatchObject({ code: 'fetch_timeout', facts: { limit: 'timeouts.idle' } });
  });

  it('a source that takes its time is not a silence of the peer', async () => {
    peer.answer((_request, response) => response.writeHead(201).end());
    const file = {
      ...fileOf(FILE),
      async *read() {
        yield Buffer.from('Hello');
        await new Promise((resolve) => setTimeout(resolve, 2500));
        yield Buffer.from(' world!');
      },
    };
    const timeouts = { connect: 5000, idle: 1500, total: 60_000 };
    expect(await upload({ file, rules: rules(peer, { timeouts }) })).toMatchObject({ status: 201 });
  });

  it('a reset in the middle is a failure without the path', async () => {
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => socket.resetAndDestroy());
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const limits = rules(peer, { ownOrigin: origin, maxBytes: 1e9 });
    const failure = await failureOf(
      upload({ url: `${origin}/p?s3cret`, file: fileOf(Buffer.alloc(9e6)), rules: limits }),
    );
    server.close();
    expect(failure.code).toBe('fetch_failed');
    expect(failure.message).not.toContain('s3cret');
  });

  it('an aborted signal ends it with its own reason', async () => {
    const reason = new Error('the client has gone');
    const controller = new AbortController();
    let seen: Promise<void> | undefined;
    peer.answer(
      (request) => {
        seen = broken(request);
        controller.abort(reason);
      },
      { early: true },
    );
    const bytes = Buffer.alloc(50_000_000);
    const run = upload({ file: fileOf(bytes), rules: rules(peer, { maxBytes: 1e9 }) }, controller.signal);
    await expect(run).rejects.toBe(reason);
    await seen;
  });
});
