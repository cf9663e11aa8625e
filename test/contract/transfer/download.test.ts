import { getEventListeners } from 'node:events';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Transfer } from '../../../gateway/ports/transfer.js';
import { someBytes } from '../../helpers/bytes.js';
import { until } from '../../helpers/wait.js';
import {
  bytesOf,
  calm,
  failureOf,
  fileOf,
  type Handler,
  type Peer,
  rules,
  says,
  startPeer,
  transferTo,
} from './peer.js';

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

const FILE = Buffer.from('Hello world!');
const whole: Handler = (_request, response) => response.end(FILE);

describe('a download', () => {
  it('hands over status, headers and bytes', async () => {
    peer.answer((_request, response) => {
      response.writeHead(200, { 'Content-Type': 'text/plain', 'Content-Length': 12 });
      response.end(FILE);
    });
    const answer = await transfer.download({ url: `${peer.https}/a?b=c%2Fd`, rules: rules(peer) }, calm());
    expect(answer).toMatchObject({ status: 200, contentLength: 12 });
    expect(answer.headers['content-type']).toBe('text/plain');
    expect(Buffer.concat(await answer.body.toArray())).toEqual(FILE);
    expect(peer.seen).toMatchObject([{ method: 'GET', url: '/a?b=c%2Fd' }]);
  });

  it('asks with what the descriptor says and nothing of its own that speaks for a caller (2631-34)', async () => {
    peer.answer(whole);
    const headers = { 'X-Custom': 'yes', Authorization: 'Bearer theirs', 'accept-encoding': 'gzip' };
    const answer = await transfer.download({ url: peer.https, headers, rules: rules(peer) }, calm());
    await answer.body.toArray();
    expect(peer.seen[0]?.headers).toEqual({
      accept: '*/*',
      'accept-encoding': 'identity',
      authorization: 'Bearer theirs',
      connection: 'close',
      host: new URL(peer.https).host,
      'user-agent': 'Wharf',
      'x-custom': 'yes',
    });
    peer.answer(whole);
    await bytesOf(transfer, peer.https, rules(peer));
    expect(Object.keys(peer.seen[0]?.headers ?? {})).toEqual(
      expect.not.arrayContaining(['authorization', 'cookie', 'x-custom']),
    );
  });

  it('brings 5 MB whole, chunked or with a length, to a slow reader as well', async () => {
    const bytes = someBytes(5_000_000);
    const limits = rules(peer, { maxBytes: bytes.length, timeouts: { connect: 5000, idle: 1500, total: 60_000 } });
    for (const headers of [{}, { 'Content-Length': bytes.length }]) {
      peer.answer((_request, response) => {
        response.writeHead(200, headers);
        response.end(bytes);
      });
      const { body } = await transfer.download({ url: peer.https, rules: limits }, calm());
      // longer than the time-out for silence: it is the reader who is silent
      await new Promise((resolve) => setTimeout(resolve, 2500));
      expect(Buffer.concat(await body.toArray()).equals(bytes)).toBe(true);
    }
  });

  it.each([204, 200])('may be empty (%i)', async (status) => {
    peer.answer((_request, response) => response.writeHead(status).end());
    expect(await bytesOf(transfer, peer.https, rules(peer))).toEqual(Buffer.alloc(0));
  });

  it.each([202, 206, 300, 302, 304, 400, 403, 404, 410, 500, 503])(
    'an answer of %i is an error (OAI-09)',
    async (status) => {
      peer.answer((_request, response) => response.writeHead(status).end(status === 304 ? undefined : 'secret reason'));
      const failure = await failureOf(
        transfer.download({ url: `${peer.https}/p?sig=s3cret`, rules: rules(peer) }, calm()),
      );
      expect(failure).toMatchObject({ code: 'fetch_failed', facts: { host: new URL(peer.https).host } });
      if (status !== 206) expect(failure.facts.status).toBe(status);
      expect(JSON.stringify(failure.toJsonRpc())).not.toMatch(/s3cret|secret reason/);
    },
  );

  it('a file that is announced as too large is refused before its bytes (2532-21, OAI-11)', async () => {
    peer.answer((_request, response) => {
      response.writeHead(200, { 'Content-Length': 11 });
      response.write('x');
    });
    const limits = rules(peer, { maxBytes: 10, maxBytesName: 'tools.ocr.files.image.maxSize' });
    const failure = await failureOf(transfer.download({ url: peer.https, rules: limits }, calm()));
    const facts = { limit: 'tools.ocr.files.image.maxSize', allowed: 10, actual: 11 };
    expect(failure).toMatchObject({ code: 'fetch_too_large', facts });
  });

  it('a file that turns out too large is broken off (2532-21, OAI-11)', async () => {
    let aborted = false;
    peer.answer((_request, response) => {
      response.on('close', () => {
        aborted = !response.writableFinished;
      });
      const more = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(64 * 1024)));
      };
      response.on('drain', more);
      more();
    });
    const failure = await failureOf(bytesOf(transfer, peer.https, rules(peer, { maxBytes: 100_000 })));
    expect(failure).toMatchObject({ code: 'fetch_too_large', facts: { limit: 'limits.file', allowed: 100_000 } });
    await until(() => aborted);
  });

  it('a file of exactly the limit passes', async () => {
    peer.answer(whole);
    expect(await bytesOf(transfer, peer.https, rules(peer, { maxBytes: 12 }))).toEqual(FILE);
  });

  it.each(['gzip', 'br', 'deflate, gzip', 'x-unknown'])('a body with the coding %s is an error', async (coding) => {
    peer.answer((_request, response) => {
      response.writeHead(200, { 'Content-Encoding': coding });
      response.end(gzipSync(FILE));
    });
    const failure = await failureOf(bytesOf(transfer, peer.https, rules(peer)));
    expect(failure).toMatchObject({ code: 'fetch_failed', facts: { reason: expect.stringContaining('compressed') } });
  });
});

describe('an answer that breaks off (2532-41)', () => {
  it.each([
    ['fewer bytes than announced', 'HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\nHello worl', 'end'],
    ['fewer bytes than announced, and a reset', 'HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\nHello worl', 'reset'],
    ['chunks without an end', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nHello\r\n', 'end'],
    ['a broken chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n', 'silent'],
    ['half a chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nHel', 'end'],
    ['no length, and a reset', 'HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nHello', 'reset'],
    ['half a head', 'HTTP/1.1 200 OK\r\nContent-', 'end'],
    ['nothing at all', '', 'end'],
    ['what is not HTTP', '+PONG\r\n-ERR unknown command\r\n', 'end'],
    ['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nHello', 'end'],
    [
      'a length and chunks',
      'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      'end',
    ],
    ['a coding below the chunks', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n', 'end'],
    ['a head of a megabyte', `HTTP/1.1 200 OK\r\nX: ${'x'.repeat(1024 * 1024)}\r\n\r\n`, 'end'],
  ] as const)('%s', async (_name, text, how) => {
    const server = await says(text, how);
    const failure = await failureOf(bytesOf(transfer, server.url, rules(peer, { ownOrigin: server.url })));
    server.close();
    expect(failure.code).toBe('fetch_failed');
    expect(failure.message).not.toContain('s3cret');
  });

  it('a body that ends with the connection is whole as far as one can tell, and has no length', async () => {
    const server = await says('HTTP/1.0 200 OK\r\n\r\nHello world!');
    const limits = rules(peer, { ownOrigin: server.url });
    const answer = await transfer.download({ url: server.url, rules: limits }, calm());
    expect(answer.contentLength).toBeUndefined();
    expect(Buffer.concat(await answer.body.toArray())).toEqual(FILE);
    server.close();
  });
});

describe('redirects (2532-28)', () => {
  const moved =
    (status: number, location: string): Handler =>
    (request, response) => {
      if (request.url === '/start') response.writeHead(status, { Location: location }).end('moved');
      else response.end(FILE);
    };
  const limits = () => rules(peer);

  it.each([301, 302, 303, 307, 308])('%i to the same host is followed with a GET', async (status) => {
    peer.answer(moved(status, '/end?x=%2F'));
    const headers = { Authorization: 'Bearer theirs' };
    const { body } = await transfer.download({ url: `${peer.https}/start`, headers, rules: limits() }, calm());
    expect(Buffer.concat(await body.toArray())).toEqual(FILE);
    expect(peer.seen.map(({ method, url }) => [method, url])).toEqual([
      ['GET', '/start'],
      ['GET', '/end?x=%2F'],
    ]);
    expect(peer.seen[1]?.headers.authorization).toBe('Bearer theirs');
  });

  it('to another port of the host it is refused, and what listens there is not asked', async () => {
    const other = await startPeer();
    other.answer(whole);
    const { port } = new URL(other.https);
    const both = transferTo(peer, { ca: peer.ca + other.ca });
    const elsewhere: [string, string][] = [
      [peer.https, `https://files.example:${port}/end`],
      [peer.http, `${other.http}/end`],
    ];
    for (const [from, to] of elsewhere) {
      peer.answer(moved(302, to));
      const run = both.download({ url: `${from}/start`, rules: rules(peer, { ownOrigin: from }) }, calm());
      expect(await failureOf(run)).toMatchObject({
        code: 'fetch_forbidden',
        facts: { host: new URL(from).host, reason: 'it redirects to another port' },
      });
    }
    expect(other.connections()).toBe(0);
    await both.close();
    await other.close();
  });

  it.each([
    ['another host', 'https://other.example/end?sig=s3cret'],
    ['an address inside', 'https://169.254.169.254/latest/meta-data?sig=s3cret'],
    ['plain http', 'http://files.example/end?sig=s3cret'],
    ['a file', 'file:///etc/passwd?sig=s3cret'],
  ])('to %s it is refused, and no server is asked', async (_name, location) => {
    peer.answer(moved(302, location));
    const run = transfer.download({ url: `${peer.https}/start`, rules: rules(peer, { redirects: 2 }) }, calm());
    const failure = await failureOf(run);
    expect(failure.code).toBe('fetch_forbidden');
    expect(JSON.stringify(failure.toJsonRpc())).not.toContain('s3cret');
  });

  it('a loop ends after as many as the rules allow', async () => {
    peer.answer((_request, response) => response.writeHead(302, { Location: '/start' }).end());
    const failure = await failureOf(transfer.download({ url: `${peer.https}/start`, rules: limits() }, calm()));
    expect(failure).toMatchObject({ code: 'fetch_forbidden', facts: { reason: 'it redirects more than 3 times' } });
    expect(peer.seen).toHaveLength(4);
  });

  it('none is followed where none may be', async () => {
    peer.answer(moved(302, '/end'));
    const run = transfer.download({ url: `${peer.https}/start`, rules: rules(peer, { redirects: 0 }) }, calm());
    expect((await failureOf(run)).code).toBe('fetch_forbidden');
    expect(peer.seen).toHaveLength(1);
  });
});

describe('time', () => {
  const within = (timeouts: Partial<{ connect: number; idle: number; total: number }>, ownOrigin = peer.http) =>
    rules(peer, { ownOrigin, timeouts: { connect: 5000, idle: 5000, total: 20_000, ...timeouts } });

  it('no connection: the name is not resolved in time', async () => {
    const waiting = transferTo(peer, { resolve: () => new Promise(() => undefined) });
    const failure = await failureOf(waiting.download({ url: peer.https, rules: within({ connect: 100 }) }, calm()));
    expect(failure).toMatchObject({ code: 'fetch_timeout', facts: { limit: 'connect', allowed: 100 } });
    await waiting.close();
  });

  it('no connection: TLS is never answered', async () => {
    const server = await says('', 'silent');
    const url = server.url.replace('http:', 'https:');
    const failure = await failureOf(transfer.download({ url, rules: within({ connect: 200 }, url) }, calm()));
    expect(failure).toMatchObject({ code: 'fetch_timeout', facts: { limit: 'connect' } });
    server.close();
  });

  it.each([
    ['before the head', ''],
    ['within the head', 'HTTP/1.1 200 OK\r\nContent'],
    ['within the body', 'HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\nHello'],
  ])('silence %s', async (_name, text) => {
    const server = await says(text, 'silent');
    const failure = await failureOf(bytesOf(transfer, server.url, within({ idle: 200 }, server.url)));
    expect(failure).toMatchObject({ code: 'fetch_timeout', facts: { limit: 'timeouts.idle', allowed: 200 } });
    expect(failure.message).not.toContain('s3cret');
    server.close();
  });

  it('a peer that drips is ended by the total time', async () => {
    peer.answer((_request, response) => {
      const drip = setInterval(() => response.write('x'), 20);
      response.on('close', () => clearInterval(drip));
    });
    const failure = await failureOf(bytesOf(transfer, peer.http, within({ idle: 500, total: 600 })));
    expect(failure).toMatchObject({ code: 'fetch_timeout', facts: { limit: 'total', allowed: 600 } });
  });

  it('the total time ends a body that is not read, and the process lives on', async () => {
    peer.answer((_request, response) => response.write('x'));
    const { body } = await transfer.download({ url: peer.http, rules: within({ total: 200 }) }, calm());
    await until(() => body.destroyed);
    expect(await failureOf(body.toArray())).toMatchObject({ code: 'fetch_timeout' });
  });
});

describe('an ending from outside', () => {
  it('the reason of an aborted signal is what everybody gets', async () => {
    const reason = new Error('the client has gone');
    await expect(transfer.download({ url: peer.https, rules: rules(peer) }, AbortSignal.abort(reason))).rejects.toBe(
      reason,
    );
    const controller = new AbortController();
    peer.answer(() => controller.abort(reason));
    await expect(transfer.download({ url: peer.https, rules: rules(peer) }, controller.signal)).rejects.toBe(reason);

    const later = new AbortController();
    peer.answer((_request, response) => response.write('Hello'));
    const { body } = await transfer.download({ url: peer.https, rules: rules(peer) }, later.signal);
    later.abort(reason);
    await expect(body.toArray()).rejects.toBe(reason);
  });

  it('a transfer that has ended no longer listens to the signal', async () => {
    const { signal } = new AbortController();
    peer.answer(whole);
    const { body } = await transfer.download({ url: peer.https, rules: rules(peer) }, signal);
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    await body.toArray();
    const upload = { url: peer.https, method: 'PUT' as const, file: fileOf('x'), rules: rules(peer) };
    await transfer.upload(upload, signal);
    const forbidden = { ...upload, url: 'https://127.0.0.1/' };
    expect((await failureOf(transfer.upload(forbidden, signal))).code).toBe('fetch_forbidden');
    await until(() => body.closed);
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });

  it('a body that its reader destroys frees the connection', async () => {
    const closed = new Promise<void>((resolve) => {
      peer.answer((_request, response) => {
        response.on('close', resolve);
        response.write('Hello');
      });
    });
    const { body } = await transfer.download({ url: peer.https, rules: rules(peer) }, calm());
    body.destroy();
    await closed;
    expect(body.errored).toBeNull();
  });

  it('close() breaks what is under way', async () => {
    const own = transferTo(peer);
    peer.answer((_request, response) => response.write('Hello'));
    const { body } = await own.download({ url: peer.https, rules: rules(peer) }, calm());
    await own.close();
    expect(await failureOf(body.toArray())).toMatchObject({ code: 'draining' });
  });
});
