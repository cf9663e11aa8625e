import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { defaultMaxListeners, once } from 'node:events';
import { type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { createAdaptorServer } from '@hono/node-server';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { create as noAudit } from '../../../adapters/audit/none.js';
import { Ledger, UNSHARED } from '../../../gateway/budget/ledger.js';
import { GatewayError } from '../../../gateway/errors.js';
import { FewLines } from '../../../gateway/few-lines.js';
import type { FileRecord } from '../../../gateway/files/file.js';
import { StoredObjects } from '../../../gateway/files/stored/stored-objects.js';
import { listenerOf } from '../../../gateway/http/app.js';
import { listen } from '../../../gateway/http/listener.js';
import { guardSettings } from '../../../gateway/http/origin/guard.js';
import { SafeResponse } from '../../../gateway/http/response.js';
import { type DownloadDeps, downloads, type TicketAnswer } from '../../../gateway/http/routes/downloads.js';
import type { ObjectRead } from '../../../gateway/ports/object-store.js';
import { comparisonLedger } from '../../helpers/budgets.js';
import { runs } from '../../helpers/effort.js';
import { silentLog } from '../../helpers/silent-log.js';
import { until } from '../../helpers/wait.js';

const NOW = 1_800_000_000_000;
const BYTES = Buffer.from(Array.from({ length: 1000 }, (_, at) => at % 251));
const RECORD: FileRecord = {
  id: 'f_1',
  principal: 'anonymous',
  server: 'everything',
  name: 'Übersicht.html',
  mimeType: 'text/html',
  size: BYTES.length,
  digest: 'n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg',
  key: 'objects/f_1',
  createdAt: NOW,
};

/** Downloads that may be streamed at one time. */
const MOST_STREAMS = 4;

interface World {
  ticket: TicketAnswer | Error;
  bytes: Buffer | undefined;
  redirect: boolean;
  /** Of its object in the store. */
  mark?: string;
  body: (bytes: Buffer) => Readable;
  presigned: unknown[];
  outcomes: string[];
  /** Codes of errors that were counted. */
  errors: string[];
  asked: string[];
  /** What a step waits for. */
  wait?: (step: string) => Promise<void>;
  signal?: AbortSignal;
}

const fresh = (): World => ({
  ticket: { kind: 'ok', record: RECORD, expiresAt: NOW + 3_600_000 },
  bytes: BYTES,
  redirect: false,
  body: (bytes) => Readable.from([bytes]),
  presigned: [],
  outcomes: [],
  errors: [],
  asked: [],
});
let world = fresh();

const stat = (key: string, { length: size }: Buffer) => ({
  ...{ key, size, modifiedAt: NOW },
  ...(world.mark !== undefined && { mark: world.mark }),
});

const comparisons = comparisonLedger();

const deps: DownloadDeps = {
  audit: noAudit({}),
  async resolveTicket(ticket) {
    world.asked.push(ticket);
    await world.wait?.('its link is looked up');
    if (world.ticket instanceof Error) throw world.ticket;
    return world.ticket;
  },
  stored: new StoredObjects({
    log: silentLog,
    comparisons,
    settings: { queueMs: 1000 },
    objects: {
      async get(key, { range, signal }): Promise<ObjectRead> {
        world.signal = signal;
        signal.throwIfAborted();
        await world.wait?.('its file is opened');
        if (world.bytes === undefined) return { kind: 'missing' };
        const part = range === undefined ? world.bytes : world.bytes.subarray(range.start, range.end + 1);
        return { kind: 'found', stat: stat(key, world.bytes), body: world.body(part) };
      },
      async head(key) {
        return world.bytes && stat(key, world.bytes);
      },
    },
  }),
  async presign(key, options) {
    world.presigned.push({ key, ...options });
    return 'https://store.example/objects/f_1?X-Amz-Signature=abc';
  },
  openDownloads: new Ledger({ limit: 'limits.downloads', total: MOST_STREAMS, sharing: UNSHARED }),
  get redirect() {
    return world.redirect;
  },
  idleMs: 300,
  open: { count: 0 },
  clock: { now: () => NOW },
  log: silentLog,
  fewLines: new FewLines({ ticks: () => 0 }),
  metrics: {
    count: (_name, { outcome, code = '' } = {}) => {
      if (outcome === undefined) world.errors.push(code);
      else world.outcomes.push(outcome);
    },
    observe() {},
    gauge() {},
  },
  refused: () => {},
};

let server: Server;
let port: number;
beforeAll(async () => {
  server = createAdaptorServer({
    fetch: downloads(deps).fetch,
    serverOptions: { ServerResponse: SafeResponse },
  }) as Server;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  port = (server.address() as AddressInfo).port;
});
afterEach(() => {
  world = fresh();
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

async function open(
  path = '/d/ticket',
  headers: Record<string, string> = {},
  method = 'GET',
): Promise<IncomingMessage> {
  const sent = request({ host: '127.0.0.1', port, path, method, headers, agent: false });
  sent.end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return response;
}

async function ask(path?: string, headers?: Record<string, string>, method?: string) {
  const response = await open(path, headers, method);
  return { status: response.statusCode, headers: response.headers, body: await buffer(response) };
}

const SAFE = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};
/** Of a file itself, whole or in part. */
const FILE = { ...SAFE, 'cache-control': 'no-store, no-transform' };

describe('a download link', () => {
  it('gives the file as an attachment of a type that runs nowhere', async () => {
    const { status, headers, body } = await ask();
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      ...FILE,
      'accept-ranges': 'bytes',
      'content-disposition': `attachment; filename="?bersicht.html"; filename*=UTF-8''%C3%9Cbersicht.html`,
      'content-length': '1000',
      'content-type': 'text/plain',
      etag: `"${RECORD.digest}"`,
    });
    expect(headers['x-hono-already-sent']).toBeUndefined();
    expect(body.equals(BYTES)).toBe(true);
    expect(world.outcomes).toEqual(['served']);
  });

  it.each([
    ['image/png', "default-src 'none'; style-src 'unsafe-inline'; .*; sandbox"],
    ['text/plain', "default-src 'none'; style-src 'unsafe-inline'; .*; sandbox"],
    ['video/mp4', "default-src 'none'; .*; media-src 'self'; sandbox allow-same-origin"],
    ['application/pdf', "default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; .*frame-ancestors 'none'"],
  ])('shows %s in the tab under a policy without any script', async (mimeType, policy) => {
    world.ticket = { kind: 'ok', record: { ...RECORD, mimeType }, expiresAt: NOW + 1000 };
    for (const method of ['GET', 'HEAD']) {
      const { headers } = await ask('/d/ticket', {}, method);
      expect(headers).toMatchObject({ ...FILE, 'content-security-policy': expect.stringMatching(`^${policy}$`) });
      expect(headers['content-disposition']).toMatch(/^inline; /);
    }
    const { headers: part } = await ask('/d/ticket', { range: 'bytes=0-9' });
    expect(part['content-disposition']).toMatch(/^inline; /);
  });

  it.each(['?download', '?download=', '?download=0', '?a=b&download=x', '?download#x'])(
    'saves it with %s',
    async (query) => {
      world.ticket = { kind: 'ok', record: { ...RECORD, mimeType: 'image/png' }, expiresAt: NOW + 60_000 };
      for (const redirect of [false, true]) {
        world.redirect = redirect;
        const { headers } = await ask(`/d/ticket${query}`);
        if (!redirect)
          expect(headers).toMatchObject({ ...FILE, 'content-disposition': expect.stringMatching(/^attachment; /) });
      }
      expect(world.presigned).toMatchObject([
        { contentType: 'image/png', contentDisposition: expect.stringMatching(/^attachment; /) },
      ]);
    },
  );

  it('gives a part, and the same part however often', async () => {
    for (const _round of [1, 2]) {
      const { status, headers, body } = await ask('/d/ticket', { range: 'bytes=10-19' });
      expect(status).toBe(206);
      expect(headers).toMatchObject({ ...FILE, 'content-range': 'bytes 10-19/1000', 'content-length': '10' });
      expect(body.equals(BYTES.subarray(10, 20))).toBe(true);
    }
  });

  it('gives exactly the bytes of any range (2532-43)', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(999), fc.nat(1200), async (start, length) => {
        const { status, body } = await ask('/d/ticket', { range: `bytes=${start}-${start + length}` });
        expect(status).toBe(206);
        expect(body.equals(BYTES.subarray(start, start + length + 1))).toBe(true);
      }),
      { numRuns: runs(100) },
    );
  });

  it('gives an empty file', async () => {
    world.bytes = Buffer.alloc(0);
    world.ticket = { kind: 'ok', record: { ...RECORD, size: 0 }, expiresAt: NOW + 1000 };
    const { status, headers, body } = await ask();
    expect([status, headers['content-length'], body.length]).toEqual([200, '0', 0]);
  });

  it('answers HEAD from the record, without asking the store (2532-64)', async () => {
    world.redirect = true;
    const { status, headers, body } = await ask('/d/ticket', {}, 'HEAD');
    expect(status).toBe(200);
    expect(headers).toMatchObject({ ...FILE, 'content-length': '1000', etag: `"${RECORD.digest}"` });
    expect(body.length).toBe(0);
    expect(world.signal).toBeUndefined();
    expect(world.presigned).toEqual([]);
  });

  it('answers 304 and 412 without a body', async () => {
    const unchanged = await ask('/d/ticket', { 'if-none-match': `"${RECORD.digest}"` });
    expect([unchanged.status, unchanged.body.length]).toEqual([304, 0]);
    const changed = await ask('/d/ticket', { 'if-match': '"other"' });
    expect([changed.status, changed.body.length]).toEqual([412, 0]);
  });

  it('answers 416 with the size of the file (2532-42)', async () => {
    const { status, headers, body } = await ask('/d/ticket', { range: 'bytes=1000-' });
    expect(status).toBe(416);
    expect(headers).toMatchObject({ ...SAFE, 'content-range': 'bytes */1000' });
    expect(JSON.parse(body.toString())).toEqual({
      error: { code: 'range_not_satisfiable', message: 'The file has 1000 bytes.' },
    });
  });
});

describe('a download link with redirects', () => {
  it('sends on to a presigned URL that names and types the file as Wharf would', async () => {
    world.redirect = true;
    const { status, headers, body } = await ask();
    expect(status).toBe(302);
    expect(headers).toMatchObject({ ...SAFE, location: 'https://store.example/objects/f_1?X-Amz-Signature=abc' });
    expect(body.length).toBe(0);
    expect(world.presigned).toEqual([
      {
        key: 'objects/f_1',
        ttlSeconds: 900,
        contentType: 'text/plain',
        contentDisposition: `attachment; filename="?bersicht.html"; filename*=UTF-8''%C3%9Cbersicht.html`,
      },
    ]);
  });

  it('answers by itself who asks by the tag that it has given for the file: the store has another one', async () => {
    world.redirect = true;
    const { etag = '' } = (await ask('/d/ticket', {}, 'HEAD')).headers;
    expect((await ask('/d/ticket', { 'if-none-match': etag })).status).toBe(304);
    expect((await ask('/d/ticket', { 'if-match': etag })).status).toBe(200);
    const resumed = await ask('/d/ticket', { 'if-range': etag, range: 'bytes=990-' });
    expect([resumed.status, resumed.body.length]).toEqual([206, 10]);
    expect(world.presigned).toEqual([]);
    expect((await ask('/d/ticket', { 'if-none-match': '"of the store"' })).status).toBe(302);
  });

  it.each([undefined, Buffer.alloc(999)])('says itself that the file is gone', async (bytes) => {
    world.redirect = true;
    world.bytes = bytes;
    const { status, headers, body } = await ask('/d/ticket', { accept: 'text/html' });
    expect([status, headers.location]).toEqual([410, undefined]);
    expect(body.toString()).toContain('The file has been removed');
    expect(world.presigned).toEqual([]);
  });

  it('never outlives its ticket', async () => {
    world.redirect = true;
    world.ticket = { kind: 'ok', record: RECORD, expiresAt: NOW + 61_500 };
    await ask();
    expect(world.presigned).toMatchObject([{ ttlSeconds: 61 }]);
  });

  it('streams in the last seconds, in which the store’s clock may already be at the end', async () => {
    world.redirect = true;
    for (const [left, status] of [
      [900, 200],
      [1900, 200],
      [4900, 200],
      [5000, 302],
    ] as const) {
      world.ticket = { kind: 'ok', record: RECORD, expiresAt: NOW + left };
      expect([left, (await ask()).status]).toEqual([left, status]);
    }
  });
});

describe('a link that leads nowhere', () => {
  it.each<[kind: TicketAnswer, status: number, code: string]>([
    [{ kind: 'unknown' }, 404, 'link_unknown'],
    [{ kind: 'expired' }, 410, 'link_expired'],
    [{ kind: 'gone' }, 410, 'file_gone'],
    [{ kind: 'ok', record: RECORD, expiresAt: NOW }, 410, 'link_expired'],
  ])('%j is %i', async (ticket, status, code) => {
    world.ticket = ticket;
    const answer = await ask();
    expect(answer.status).toBe(status);
    expect(answer.headers).toMatchObject({ ...SAFE, 'content-type': 'application/json' });
    expect(JSON.parse(answer.body.toString()).error.code).toBe(code);
    expect(world.outcomes).toEqual(['refused']);
  });

  it.each<[kind: TicketAnswer, status: number, title: string, advice: string]>([
    [{ kind: 'unknown' }, 404, 'Unknown link', 'Check that the whole link was copied'],
    [{ kind: 'expired' }, 410, 'This link has expired', 'Ask the assistant for a new link'],
    [{ kind: 'gone' }, 410, 'The file has been removed', 'Ask the assistant to run the tool again'],
  ])(
    'shows a person %j by a page that says what to do, with the same status',
    async (ticket, status, title, advice) => {
      world.ticket = ticket;
      for (const method of ['GET', 'HEAD']) {
        const answer = await ask('/d/ticket', { accept: 'text/html,*/*' }, method);
        expect([answer.status, answer.headers['content-type']]).toEqual([status, 'text/html; charset=utf-8']);
        expect(answer.headers).toMatchObject({
          ...SAFE,
          'content-security-policy': expect.stringMatching(/^default-src 'none'; .*frame-ancestors 'none'/),
        });
        const text = answer.body.toString();
        if (method === 'GET') {
          expect(text).toContain(`<h1 tabindex="-1">${title}</h1>`);
          expect(text).toContain(advice);
        } else expect(text).toBe('');
      }
    },
  );

  it('shows a person what else is wrong, and how to try again', async () => {
    world.ticket = new GatewayError('state_unavailable');
    const { status, headers, body } = await ask('/d/ticket', { accept: 'text/html' });
    expect([status, headers['retry-after']]).toEqual([503, '5']);
    expect(body.toString()).toContain('The file cannot be shown now');
    expect(body.toString()).toMatch(/href="\?">\s*Try again/);
    // one that would be saved still is
    const saved = await ask('/d/ticket?download=1', { accept: 'text/html' });
    expect(saved.body.toString()).toMatch(/href="\?download">\s*Try again/);
  });

  it.each(['/d/%00', '/d/%0d%0aX:y', '/d/a%2fb', '/d/é', `/d/${'a'.repeat(257)}`, '/d/%E0%A4%A'])(
    '%s is not even looked up',
    async (path) => {
      expect((await ask(encodeURI(path).replaceAll('%25', '%'))).status).toBe(404);
      expect(world.asked).toEqual([]);
    },
  );

  it('is 410 when the object is missing or is not the recorded one (2532-42)', async () => {
    world.bytes = undefined;
    expect((await ask()).status).toBe(410);
    world.bytes = BYTES.subarray(1);
    expect((await ask()).status).toBe(410);
  });

  it('is 503 and worth another try when the state store is down', async () => {
    world.ticket = new GatewayError('state_unavailable');
    const { status, headers } = await ask();
    expect(status).toBe(503);
    expect(headers).toMatchObject({ ...SAFE, 'retry-after': '5' });
    expect(world.outcomes).toEqual(['failed']);
    expect(world.errors).toEqual(['state_unavailable']);
  });

  it('is 500 without a word about the inside when something else fails', async () => {
    world.ticket = new Error('secret detail');
    const { status, body } = await ask();
    expect(status).toBe(500);
    expect(body.toString()).not.toContain('secret');
  });

  it.each(['POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH', 'TRACE'])('is 405 for %s', async (method) => {
    const { status, headers } = await ask('/d/ticket', {}, method);
    expect(status).toBe(405);
    expect(headers.allow).toBe('GET, HEAD');
    expect(world.asked).toEqual([]);
  });
});

describe('a download that breaks off', () => {
  /** Endless reads of 64 KiB that count what was taken. */
  function counted(total: number): { body: Readable; taken: () => number } {
    let taken = 0;
    const body = new Readable({
      read(size) {
        const next = Math.min(size, total - taken);
        taken += next;
        this.push(next === 0 ? null : Buffer.alloc(next));
      },
    });
    return { body, taken: () => taken };
  }

  /** Resolves when the store's stream is let go of, with or without an error. */
  const closed = (body: Readable): Promise<void> =>
    new Promise((resolve) => {
      if (body.closed) resolve();
      else body.on('error', () => {}).once('close', resolve);
    });

  /** The client can see the end of a connection before the gateway has counted it. */
  async function outcome(): Promise<string | undefined> {
    await until(() => world.outcomes.length > 0);
    return world.outcomes[0];
  }

  const SIZE = 64 * 1024 * 1024;
  function serve(body: Readable): void {
    world.ticket = { kind: 'ok', record: { ...RECORD, size: SIZE }, expiresAt: NOW + 1000 };
    // Only its length is looked at.
    world.bytes = { length: SIZE } as Buffer;
    world.body = () => body;
  }

  it('lets go of the store when the client goes', async () => {
    const { body } = counted(SIZE);
    serve(body);
    const response = await open();
    response.destroy();
    await closed(body);
    expect(world.signal?.aborted).toBe(true);
    expect(await outcome()).toBe('aborted');
  });

  it.each(['its link is looked up', 'its file is opened'])(
    'lets go of the store when the client goes while %s',
    async (step) => {
      const body = Readable.from([BYTES]);
      world.body = () => body;
      world.wait = async (at) => {
        if (at !== step) return;
        const left = once(server, 'left');
        client.resetAndDestroy();
        await left;
      };
      server.once('connection', (socket) => socket.once('close', () => setImmediate(() => server.emit('left'))));
      const client = connect(port, '127.0.0.1', () => client.write('GET /d/ticket HTTP/1.1\r\nHost: a\r\n\r\n'));
      expect(await outcome()).toBe('aborted');
      // either it was never opened, or it is closed
      expect([world.signal?.aborted, body.destroyed]).toEqual([true, step === 'its file is opened']);
      expect(deps.openDownloads.used).toBe(0);
    },
  );

  it('compares no file with what was stored when the client that is to be redirected to it has gone', async () => {
    const body = new Readable({ read() {} });
    const record = { ...RECORD, mark: 'when it was stored' };
    Object.assign(world, { redirect: true, mark: 'of a copy', body: () => body });
    world.ticket = { kind: 'ok', record, expiresAt: NOW + 3_600_000 };
    world.wait = async (at) => {
      if (at === 'its file is opened') client.resetAndDestroy();
    };
    const client = connect(port, '127.0.0.1', () => client.write('GET /d/ticket HTTP/1.1\r\nHost: a\r\n\r\n'));
    expect(await outcome()).toBe('aborted');
    expect(world.signal?.aborted).toBe(true);
    expect([world.presigned, world.errors]).toEqual([[], []]);
    await until(() => body.destroyed && comparisons.used === 0);
  });

  it('has no more listeners than node takes for no leak, on the port that clients reach', async () => {
    const face = await listen({
      ...{
        host: '127.0.0.1',
        port: 0,
        idleMs: 1000,
        limits: { held: 1_000_000 },
        isDraining: () => false,
        refused() {},
      },
      app: async () => listenerOf(downloads(deps)),
      guard: guardSettings({ allowedHosts: [], allowedOrigins: [], publicUrl: undefined }),
      sockets: { limit: 'limits.sockets', allowed: 10 },
    });
    let response: ServerResponse | undefined;
    const noted = (message: unknown) => {
      ({ response } = message as { response: ServerResponse });
    };
    subscribe('http.server.request.start', noted);
    let listening: number | undefined;
    world.body = (bytes) =>
      new Readable({
        read() {
          setImmediate(() => {
            listening = response?.listenerCount('close');
            this.push(bytes);
            this.push(null);
          });
        },
      });
    try {
      const sent = request({ host: '127.0.0.1', port: face.port, path: '/d/ticket', agent: false }).end();
      const [answer] = (await once(sent, 'response')) as [IncomingMessage];
      expect(await buffer(answer)).toEqual(BYTES);
      expect(listening).toBeLessThanOrEqual(defaultMaxListeners);
    } finally {
      unsubscribe('http.server.request.start', noted);
      face.closeAll();
      await face.close();
    }
  });

  it('takes a place of limits.downloads while it is under way, and leaves it', async () => {
    world.body = (bytes) => {
      const body = new Readable({ read() {} });
      body.push(bytes.subarray(0, 10));
      return body;
    };
    const streaming = await Promise.all(Array.from({ length: MOST_STREAMS }, () => open()));
    const { status, headers } = await ask();
    expect(status).toBe(503);
    expect(headers['retry-after']).toBeDefined();
    expect(deps.openDownloads.used).toBe(MOST_STREAMS);
    for (const one of streaming) one.on('error', () => {}).destroy();
    await until(() => deps.openDownloads.used === 0);
    world.body = (bytes) => Readable.from([bytes]);
    expect((await ask()).status).toBe(200);
  });

  it('takes no more from the store than a slow client reads, and cuts one that stands still', async () => {
    const { body, taken } = counted(SIZE);
    serve(body);
    const response = await open();
    response.pause();
    await closed(body);
    // What stays under way fills the sockets' buffers, which the kernel sizes up to some MiB.
    expect(taken()).toBeLessThan(SIZE / 2);
    response.on('error', () => {});
    response.destroy();
  });

  it('cuts the connection when the store fails midway, so that the file is not taken for whole', async () => {
    let reads = 0;
    serve(
      new Readable({
        read() {
          if (reads++ < 2) this.push(Buffer.alloc(1000));
          else this.destroy(new Error('The store went away.'));
        },
      }),
    );
    const response = await open();
    expect(response.statusCode).toBe(200);
    await expect(buffer(response)).rejects.toThrow('aborted');
    expect(await outcome()).toBe('failed');
  });

  it('cuts the connection when the store stands still', async () => {
    const stalled = new Readable({ read() {} });
    stalled.push(Buffer.alloc(1000));
    serve(stalled);
    const response = await open();
    await expect(buffer(response)).rejects.toThrow('aborted');
    await closed(stalled);
  });
});
