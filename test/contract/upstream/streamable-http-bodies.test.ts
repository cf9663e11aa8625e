import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { windowOf } from '../../../adapters/upstream/http/window.js';
import { create, settings } from '../../../adapters/upstream/streamable-http.js';
import { Ledger, UNSHARED } from '../../../gateway/budget/ledger.js';
import type { ExchangeUpstream } from '../../../gateway/ports/upstream.js';
import { type FakeUpstream, type ScriptedAnswer, startFakeUpstream } from '../../helpers/fake-upstream.js';
import { blobBytes } from '../../helpers/fake-upstream-blob.js';
import { until } from '../../helpers/wait.js';
import { calm, failureOf, POST_HEADERS, request, upstreamDeps } from './subject.js';

const MIB = 1024 * 1024;

let fake: FakeUpstream;
let upstream: ExchangeUpstream;

beforeEach(async () => {
  fake = await startFakeUpstream();
  upstream = create(settings.parse({ url: fake.url }), upstreamDeps());
});
afterEach(async () => {
  await upstream.close();
  await fake.close();
});

/** Reads the answer the server is told to give; `bytes` counts what came before a failure as well. */
async function read(answer: ScriptedAnswer, onBytes?: (bytes: number) => void): Promise<Buffer> {
  fake.queue.push({ contentType: 'application/json', ...answer });
  const call = { method: 'POST' as const, headers: { ...POST_HEADERS }, body: request(1, 'ping') };
  const { body } = await upstream.open(call, calm());
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of body as AsyncIterable<Buffer>) {
    parts.push(part);
    bytes += part.length;
    onBytes?.(bytes);
  }
  return Buffer.concat(parts);
}

/** Hardly compressible, so that half of it is missing when half of its coding is. */
const BODY = Buffer.from(JSON.stringify({ data: blobBytes({ size: 200_000 }).toString('base64') }));

describe('a body of streamable-http that is not what it says', () => {
  it.each([
    ['shorter than its length', { declaredLength: BODY.length + 10, cut: 'fin' }],
    ['cut off before its length', { cutAfter: 1000, cut: 'fin' }],
    ['reset before its length', { cutAfter: 1000, cut: 'rst' }],
    ['chunked and cut off', { framing: 'chunked', cutAfter: 1000, cut: 'fin' }],
    ['chunked and reset', { framing: 'chunked', cutAfter: 1000, cut: 'rst' }],
  ] satisfies [string, ScriptedAnswer][])('errs when it is %s', async (_what, answer) => {
    const failure = await failureOf(read({ body: BODY, ...answer }));
    expect(failure.code).toBe('upstream_closed');
    expect(failure.message).toBe('The server "subject" ended before its answer was complete.');
    await until(() => fake.openConnections === 0);
  });

  it('errs when a chunk is malformed', async () => {
    const head = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n';
    const failure = await failureOf(read({ raw: `${head}2\r\n{"\r\nzz\r\n` }));
    expect(failure.code).toBe('upstream_closed');
  });

  it('takes what is longer than its length as its length', async () => {
    const body = await read({ body: `${BODY}surplus`, declaredLength: BODY.length });
    expect(body.equals(BODY)).toBe(true);
  });

  it.each(['length', 'chunked', 'close'] as const)('reads all of it in small pieces, framed by %s', async (framing) => {
    const body = await read({ body: BODY, framing, chunk: 997 });
    expect(body.equals(BODY)).toBe(true);
  });

  it('reads all of it when the server says Connection: close', async () => {
    const body = await read({ body: BODY, connectionClose: true });
    expect(body.equals(BODY)).toBe(true);
  });
});

it('keeps the bytes of answers apart that come at the same time, to readers of different speed', async () => {
  const bodies = Array.from({ length: 8 }, (_, seed) =>
    JSON.stringify(blobBytes({ size: 2 * MIB, seed }).toString('hex')),
  );
  const read = async (): Promise<string> => {
    const call = { method: 'POST' as const, headers: { ...POST_HEADERS }, body: request(1, 'ping') };
    const { body } = await upstream.open(call, calm());
    const parts: Buffer[] = [];
    for await (const part of body as AsyncIterable<Buffer>) {
      parts.push(part);
      for (let turn = parts.length % 4; turn > 0; turn -= 1) await new Promise(setImmediate);
    }
    return Buffer.concat(parts).toString();
  };
  for (const [place, body] of bodies.entries()) {
    fake.queue.push({ contentType: 'application/json', body, framing: place % 2 === 0 ? 'chunked' : 'length' });
  }
  const got = await Promise.all(bodies.map(read));
  expect(got.sort()).toEqual(bodies.sort());
});

describe('a content coding that was not asked for', () => {
  it.each(['gzip', 'br', 'deflate'] as const)('is decoded when it is %s', async (coding) => {
    const body = await read({ body: BODY, coding, chunk: 100 });
    expect(body.equals(BODY)).toBe(true);
  });

  it.each([
    ['inside of zlib', deflateSync(BODY)],
    ['bare', deflateRawSync(BODY)],
    ['bare, and not compressed', deflateRawSync(BODY, { level: 0 })],
    ['bare, with fixed codes', deflateRawSync(BODY, { strategy: constants.Z_FIXED })],
    ['in a small window of zlib', deflateSync(BODY, { windowBits: 9 })],
  ])('is decoded when it is deflate %s', async (_, coded) => {
    for (const chunk of [1, 997, undefined]) {
      const short = chunk === 1 ? { framing: 'chunked' as const } : {};
      const body = await read({ body: coded, codingHeader: 'deflate', ...short, ...(chunk && { chunk }) });
      expect(body.equals(BODY)).toBe(true);
    }
  });

  it.each([
    ['zlib', deflateSync(BODY)],
    ['bare deflate', deflateRawSync(BODY)],
  ])('ends where its %s ends, whatever follows', async (_, coded) => {
    for (const chunk of [undefined, 1000]) {
      const body = Buffer.concat([coded, Buffer.alloc(5000, 'x')]);
      expect((await read({ body, codingHeader: 'deflate', ...(chunk && { chunk }) })).equals(BODY)).toBe(true);
    }
  });

  it('waits for its reader when it is bare deflate', async () => {
    const long = Buffer.concat(Array.from({ length: 100 }, () => BODY));
    fake.queue.push({ body: deflateRawSync(long), codingHeader: 'deflate', contentType: 'application/json' });
    const { body } = await upstream.open({ method: 'GET', headers: {} }, calm());
    await until(() => body.readableLength > 0);
    for (let at = 0; at < 20; at += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(body.readableLength).toBeLessThan(MIB / 4);
    let bytes = 0;
    for await (const chunk of body) bytes += (chunk as Buffer).length;
    expect(bytes).toBe(long.length);
  });

  it('is nothing when it is deflate of nothing', async () => {
    expect(await read({ body: Buffer.alloc(0), codingHeader: 'deflate' })).toEqual(Buffer.alloc(0));
  });

  it('is an error when it is bare deflate and cut off, or expands beyond limits.codingRatio', async () => {
    const half = deflateRawSync(BODY).subarray(0, 50_000);
    expect((await failureOf(read({ body: half, codingHeader: 'deflate' }))).code).toBe('upstream_closed');
    const bomb = deflateRawSync(Buffer.alloc(64 * MIB, 0x20));
    let bytes = 0;
    const failure = await failureOf(read({ body: bomb, codingHeader: 'deflate' }, (read) => (bytes = read)));
    expect(failure.code).toBe('upstream_coding_limit');
    expect(bytes).toBeLessThanOrEqual(MIB);
  });

  it('has a name without case, and identity is none', async () => {
    expect((await read({ body: BODY, coding: 'gzip', codingHeader: ' X-GZip ' })).equals(BODY)).toBe(true);
    expect((await read({ body: BODY, codingHeader: 'Identity' })).equals(BODY)).toBe(true);
  });

  it('says nothing about the length of the body', async () => {
    fake.queue.push({ body: BODY, coding: 'gzip', contentType: 'application/json' });
    const answer = await upstream.open({ method: 'GET', headers: {} }, calm());
    expect(answer.contentLength).toBeUndefined();
    answer.body.destroy();
  });

  it.each(['zstd', 'compress', 'gzip, gzip', 'gzip, br', 'nonsense', '__proto__', 'constructor'])(
    'is refused when it is %s',
    async (codingHeader) => {
      const failure = await failureOf(read({ body: BODY, codingHeader }));
      expect([failure.code, failure.facts.coding]).toEqual(['upstream_coding', codingHeader]);
      await until(() => fake.openConnections === 0);
    },
  );

  it.each(['gzip', 'br', 'deflate'] as const)('is an error when it is %s and cut off', async (coding) => {
    const failure = await failureOf(read({ body: BODY, coding, cutAfter: 100, cut: 'fin' }));
    expect(failure.code).toBe('upstream_closed');
  });

  it('is an error when it ends early inside a body that is complete', async () => {
    const half = gzipSync(BODY).subarray(0, 200);
    const failure = await failureOf(read({ body: half, codingHeader: 'gzip' }));
    expect(failure.code).toBe('upstream_closed');
  });

  it.each(['gzip', 'br', 'deflate'] as const)('is an error when it is called %s and is not', async (codingHeader) => {
    const failure = await failureOf(read({ body: BODY, codingHeader }));
    expect(failure.code).toBe('upstream_invalid');
    await until(() => fake.openConnections === 0);
  });

  it.each(['gzip', 'br', 'deflate'] as const)(
    'is cut short when %s expands beyond limits.codingRatio (G39)',
    async (coding) => {
      let bytes = 0;
      const bomb = Buffer.alloc(64 * MIB, 0x20);
      const failure = await failureOf(read({ body: bomb, coding }, (read) => (bytes = read)));
      expect(failure.code).toBe('upstream_coding_limit');
      expect(failure.facts).toMatchObject({ limit: 'limits.codingRatio', allowed: 100 });
      expect(Number(failure.facts.actual)).toBeGreaterThan(100);
      expect(bytes).toBeLessThanOrEqual(MIB);
    },
  );

  it('may expand as it likes up to 1 MiB', async () => {
    const blanks = Buffer.alloc(MIB, 0x20);
    expect((await read({ body: blanks, coding: 'gzip' })).equals(blanks)).toBe(true);
  });
});

describe('what a decoder of brotli keeps of what it has decoded', () => {
  /** @param bits of the window, of which there are 10 to 24 */
  const coded = (body: Buffer, bits: number) =>
    brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_LGWIN]: bits, [constants.BROTLI_PARAM_QUALITY]: 2 } });
  const long = blobBytes({ size: 3 * MIB });
  const windows = new Ledger({ limit: 'limits.held', total: MIB, sharing: UNSHARED });

  beforeEach(async () => {
    await upstream.close();
    upstream = create(settings.parse({ url: fake.url }), { ...upstreamDeps(), windows });
  });

  it.each([10, 15, 16, 17, 18, 22, 24])('is known by its first byte: a window of %i bits', (bits) => {
    expect(windowOf(coded(BODY, bits)[0] as number)).toBe(2 ** bits);
  });

  it('counts while it is kept, and an answer for which there is no room breaks off', async () => {
    const failure = await failureOf(read({ body: coded(long, 24), codingHeader: 'br' }));
    expect([failure.code, failure.facts.limit, failure.facts.allowed]).toEqual(['held_full', 'limits.held', MIB]);
    await until(() => windows.used === 0);
  });

  it('is no more than the window of the answer', async () => {
    const most: number[] = [];
    const whole = await read({ body: coded(long, 18), codingHeader: 'br' }, () => most.push(windows.used));
    expect(whole.equals(long)).toBe(true);
    expect(Math.max(...most)).toBe(2 ** 18);
    await until(() => windows.used === 0);
  });
});
