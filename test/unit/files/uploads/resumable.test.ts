import { beforeEach, describe, expect, it } from '@jest/globals';
import { GatewayError } from '../../../../gateway/errors.js';
import { createSweep, ORPHAN_GRACE_MS } from '../../../../gateway/files/retention/sweep.js';
import type { AppendResult } from '../../../../gateway/files/uploads/resumable/append.js';
import type { ResumableUploads } from '../../../../gateway/files/uploads/resumable/resumable-uploads.js';
import type { ResumableWriter } from '../../../../gateway/ports/object-store.js';
import { sha256Url, someBytes } from '../../../helpers/bytes.js';
import { until } from '../../../helpers/wait.js';
import { createLab, HOUR, type Lab, NEVER, TTL } from './upload-lab.js';

const SIZE = 2_500_000;
const BYTES = someBytes(SIZE);

let lab: Lab;
let replica: ResumableUploads;
let ticket: string;
let uri: string;

beforeEach(async () => {
  await use(createLab());
});

async function use(fresh: Lab, intent = {}): Promise<void> {
  lab = fresh;
  replica = lab.replica();
  ({ ticket, uri } = await lab.authorize(intent));
}

const begin = async (length = SIZE, at = replica) => at.begin(ticket, await at.admit(ticket), { length });

async function append(offset: number, bytes: Buffer | AsyncIterable<Buffer>, at = replica): Promise<AppendResult> {
  const pieces = Buffer.isBuffer(bytes) ? chunksOf(bytes) : bytes;
  return at.append(await at.open(ticket), offset, (until, take) => take({ bytes: stopping(until, pieces) }, until));
}

/** What a request's body does when its reader is told to stop. */
async function* stopping(signal: AbortSignal, bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const chunk of bytes) {
    signal.throwIfAborted();
    yield chunk;
  }
  signal.throwIfAborted();
}

async function* chunksOf(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += 40_000) yield bytes.subarray(at, at + 40_000);
}

/** Bytes that come, and then none until they are let go. */
function held(bytes: Buffer) {
  let release = () => {};
  const isReleased = new Promise<void>((resolve) => {
    release = resolve;
  });
  let arrive = () => {};
  const arrived = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  async function* pieces(): AsyncGenerator<Buffer> {
    yield* chunksOf(bytes);
    arrive();
    await isReleased;
  }
  return { pieces: pieces(), release, arrived };
}

const offsetOf = async () => {
  const found = await replica.find(ticket);
  return 'record' in found ? found.record.size : found.noted.progress.offset;
};

const stored = async () => {
  const found = await lab.library.resolve(uri, 'ann');
  return found.kind === 'ready' ? { digest: found.record.digest, size: found.record.size } : found.kind;
};
const WHOLE = { digest: sha256Url(BYTES), size: SIZE };

describe('an upload that goes on', () => {
  it('goes on from another replica while the first one still waits for bytes, which then come too late', async () => {
    const other = lab.replica();
    await begin();
    await append(0, BYTES.subarray(0, 100_000));
    const slow = held(someBytes(1_500_000));
    const first = append(100_000, slow.pieces);
    await slow.arrived;
    const second = await append(100_000, BYTES.subarray(100_000), other);
    expect(second.record).toMatchObject(WHOLE);
    slow.release();
    await expect(first).rejects.toMatchObject({
      code: expect.stringMatching(/^(upload_taken_over|store_unavailable)$/),
    });
    expect(await stored()).toEqual(WHOLE);
    expect((await lab.keys()).length).toBe(1);
    expect(lab.budget.used).toBe(0);
  });

  it('leaves nothing of bytes that came too late where nothing had been noted', async () => {
    const other = lab.replica();
    await begin();
    const slow = held(someBytes(1_500_000));
    const first = append(0, slow.pieces);
    await slow.arrived;
    expect((await append(0, BYTES, other)).record).toMatchObject(WHOLE);
    slow.release();
    await expect(first).rejects.toMatchObject({ code: 'upload_taken_over' });
    expect(await stored()).toEqual(WHOLE);
    expect((await lab.keys()).length).toBe(1);
    expect(await lab.objects.removeUnfinished(Number.POSITIVE_INFINITY)).toBe(0);
  });

  it('is the last request’s that has claimed it, be it one that brings nothing', async () => {
    const other = lab.replica();
    await begin();
    const slow = held(BYTES.subarray(0, 500_000));
    const first = append(0, slow.pieces);
    await slow.arrived;
    expect(await append(0, Buffer.alloc(0), other)).toEqual({ offset: 0 });
    slow.release();
    await expect(first).rejects.toMatchObject({ code: 'upload_taken_over' });
    expect(await offsetOf()).toBe(0);
  });

  it('stops when the process does, and keeps what came', async () => {
    await begin();
    const slow = held(BYTES.subarray(0, 500_000));
    const first = append(0, slow.pieces);
    await slow.arrived;
    replica.stop();
    slow.release();
    await expect(first).rejects.toMatchObject({ code: 'draining' });
    expect(await offsetOf()).toBe(500_000);
    // its client goes on at another replica
    await expect(append(500_000, BYTES.subarray(500_000))).rejects.toMatchObject({ code: 'draining' });
  });

  it('keeps what came before its bytes broke off, and nothing where a checksum was to be compared at their end', async () => {
    await begin();
    async function* broken() {
      yield BYTES.subarray(0, 500_000);
      throw new GatewayError('idle_timeout');
    }
    const checked = () => {};
    const compared = replica.append(await replica.open(ticket), 0, (until, take) =>
      take({ bytes: broken(), checked }, until),
    );
    await expect(compared).rejects.toMatchObject({ code: 'idle_timeout' });
    expect(await offsetOf()).toBe(0);
    await expect(append(0, broken())).rejects.toMatchObject({ code: 'idle_timeout' });
    expect(await offsetOf()).toBe(500_000);
  });

  it('keeps what a request brought that another one of the same process ends', async () => {
    await begin();
    const slow = held(BYTES.subarray(0, 1_234_567));
    const first = append(0, slow.pieces);
    await slow.arrived;
    const found = await replica.open(ticket);
    // it ends the first at once
    const second = replica.append(found, 0, (until, take) => take({ bytes: stopping(until, chunksOf(BYTES)) }, until));
    slow.release();
    expect(await Promise.allSettled([first, second])).toMatchObject([
      { reason: { code: 'upload_taken_over' } },
      { reason: { code: 'upload_offset_differs', facts: { allowed: 1_234_567 } } },
    ]);
    expect((await append(1_234_567, BYTES.subarray(1_234_567))).record).toMatchObject(WHOLE);
  });

  it('is not ended by a request with an offset that no client has been told', async () => {
    await begin();
    await append(0, BYTES.subarray(0, 100_000));
    const slow = held(BYTES.subarray(100_000));
    const right = append(100_000, slow.pieces);
    await slow.arrived;
    for (const wrong of [0, 100_001, SIZE]) {
      await expect(append(wrong, BYTES.subarray(0, 10))).rejects.toMatchObject({
        code: 'upload_offset_differs',
        facts: { allowed: 100_000, actual: wrong },
      });
    }
    slow.release();
    expect((await right).record).toMatchObject(WHOLE);
  });

  it('finds the whole object where the process ended before it was recorded', async () => {
    let isDown = false;
    await use(
      createLab({
        state: (real) => ({
          ...real,
          create: async (key, ...rest) => {
            if (isDown && key.startsWith('file:')) throw new GatewayError('state_unavailable');
            return real.create(key, ...rest);
          },
        }),
      }),
    );
    await begin();
    await append(0, BYTES.subarray(0, 1_100_000));
    isDown = true;
    await expect(append(1_100_000, BYTES.subarray(1_100_000))).rejects.toMatchObject({ code: 'state_unavailable' });
    expect(await stored()).toBe('pending');
    expect(await offsetOf()).toBe(1_100_000);
    isDown = false;
    expect((await append(1_100_000, BYTES.subarray(1_100_000), lab.replica())).record).toMatchObject(WHOLE);
    expect(await stored()).toEqual(WHOLE);
    expect((await lab.keys()).length).toBe(1);
  });

  it('is done for a request that comes while the one before completes it', async () => {
    let complete = () => {};
    const isCompleting = new Promise<void>((resolve) => {
      complete = resolve;
    });
    let isReached = false;
    await use(
      createLab({
        state: (real) => ({
          ...real,
          create: async (key, ...rest) => {
            if (key.startsWith('file:')) {
              isReached = true;
              await isCompleting;
            }
            return real.create(key, ...rest);
          },
        }),
      }),
    );
    await begin();
    await append(0, BYTES.subarray(0, 100));
    const first = append(100, BYTES.subarray(100));
    await until(() => isReached);
    expect(await offsetOf()).toBe(100);
    const second = append(100, BYTES.subarray(100));
    await new Promise((resolve) => setTimeout(resolve, 20));
    complete();
    expect(await Promise.allSettled([first, second])).toMatchObject([
      { value: { offset: SIZE, record: WHOLE } },
      { reason: { code: 'upload_done' } },
    ]);
    expect(await stored()).toEqual(WHOLE);
  });

  it('keeps what was stored when the store fails, and goes on when it is back', async () => {
    let left = 0;
    const failing = (writer: ResumableWriter): ResumableWriter => ({
      ...writer,
      write: (part) => (left-- > 0 ? writer.write(part) : Promise.reject(new GatewayError('store_unavailable'))),
    });
    await use(
      createLab({
        objects: (real) => {
          const { resumable } = real;
          if (!resumable) throw new Error('it can');
          return {
            ...real,
            resumable: {
              begin: async (...args) => failing(await resumable.begin(...args)),
              resume: async (...args) => {
                const resumed = await resumable.resume(...args);
                return resumed && { ...resumed, writer: failing(resumed.writer) };
              },
              discard: (...args) => resumable.discard(...args),
            },
          };
        },
      }),
    );
    await begin();
    await append(0, BYTES.subarray(0, 500_000));
    await expect(append(500_000, BYTES.subarray(500_000))).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(await offsetOf()).toBe(500_000);
    left = 10;
    expect((await append(500_000, BYTES.subarray(500_000))).record).toMatchObject(WHOLE);
    expect(lab.budget.used).toBe(0);
  });

  it('is gone where the store has lost it, and says so', async () => {
    await begin();
    await append(0, BYTES.subarray(0, 500_000));
    expect(await lab.objects.removeUnfinished(Number.POSITIVE_INFINITY)).toBe(1);
    await expect(append(500_000, BYTES.subarray(500_000))).rejects.toMatchObject({ code: 'upload_unknown' });
    await expect(replica.find(ticket)).rejects.toMatchObject({ code: 'upload_unknown' });
    await begin();
    expect((await append(0, BYTES)).record).toMatchObject(WHOLE);
  });

  it('lives as long as it says, be its ticket over, and no longer', async () => {
    const { noted } = await begin();
    expect(noted.progress.expiresAt).toBe(lab.time.now + 3 * TTL);
    await append(0, BYTES.subarray(0, 10));
    lab.time.now += 2 * TTL;
    expect(await offsetOf()).toBe(10);
    await append(10, BYTES.subarray(10, 20));
    await expect(begin()).rejects.toMatchObject({ code: 'link_expired' });
    lab.time.now += TTL;
    await expect(append(20, BYTES.subarray(20))).rejects.toMatchObject({ code: 'link_expired' });
    await expect(replica.find(ticket)).rejects.toMatchObject({ code: 'link_expired' });
    expect(await stored()).toBe('expired');
  });

  it('finds its ticket as long as it lives itself, however long that is over', async () => {
    await use(createLab({ uploadMs: 5 * HOUR, retentionMs: 24 * HOUR }));
    await begin();
    lab.time.now += 4 * HOUR;
    await append(0, BYTES);
    expect(await stored()).toEqual(WHOLE);
  });

  it.each([
    ['before stores remove what is unfinished after a day', 48, 48, 23],
    ['with what a file lives, if that is less', 3, 2, 2],
  ])('ends %s', async (_when, upload, retention, hours) => {
    await use(createLab({ uploadMs: upload * HOUR, retentionMs: retention * HOUR }));
    const { noted } = await begin();
    expect(noted.progress.expiresAt).toBe(lab.time.now + hours * HOUR);
  });

  it('stops with the ticket that is taken back', async () => {
    await begin();
    await lab.uploadLinks.revoke(ticket);
    await expect(append(0, BYTES)).rejects.toMatchObject({ code: 'upload_cancelled' });
    await expect(replica.find(ticket)).rejects.toMatchObject({ code: 'upload_cancelled' });
    await expect(begin()).rejects.toMatchObject({ code: 'upload_cancelled' });
  });

  it('stops, and leaves nothing, where the ticket is taken back during its last request', async () => {
    await begin();
    await append(0, BYTES.subarray(0, 100));
    const slow = held(BYTES.subarray(100));
    const late = append(100, slow.pieces);
    await slow.arrived;
    await lab.uploadLinks.revoke(ticket);
    slow.release();
    await expect(late).rejects.toMatchObject({ code: 'upload_cancelled' });
    await until(async () => (await lab.keys()).length === 0);
  });

  it('comes second where a raw body was first, and leaves nothing', async () => {
    await begin();
    await append(0, BYTES.subarray(0, 100));
    const slow = held(BYTES.subarray(100));
    const late = append(100, slow.pieces);
    await slow.arrived;
    await lab.send(ticket, Buffer.from('raw'));
    slow.release();
    await expect(late).rejects.toMatchObject({ code: 'upload_done' });
    expect(await stored()).toMatchObject({ size: 3 });
    expect((await lab.keys()).length).toBe(1);
  });

  it('whose digest is another one than announced leaves nothing, and can be begun again', async () => {
    await use(createLab(), { digest: sha256Url(BYTES) });
    await begin();
    await append(0, BYTES.subarray(0, 1000));
    const wrong = append(1000, someBytes(SIZE - 1000));
    await expect(wrong).rejects.toMatchObject({ code: 'upload_digest_differs' });
    expect(await lab.keys()).toEqual([]);
    await begin();
    expect((await append(0, BYTES)).record).toMatchObject(WHOLE);
  });

  it('is not an orphan to the sweep while it is under way', async () => {
    const { noted } = await begin();
    await append(0, BYTES.subarray(0, 1000));
    const found = await replica.open(ticket);
    const key = found.noted.progress.key as string;
    // what a store keeps beside an object to come
    for (const name of [`${key}-rest`, `${key.slice(0, 26)}-other`]) {
      const writer = await lab.objects.create(name, NEVER);
      await writer.writeLast(Buffer.from('rest'));
      await writer.commit();
    }
    const metrics = { count() {}, observe() {}, gauge() {} };
    const clock = { now: () => lab.time.now + ORPHAN_GRACE_MS, ticks: () => 0 };
    const sweep = createSweep({ ...lab, clock, metrics, confirmMs: 0 });
    await sweep();
    expect(await lab.keys()).toEqual([`${key}-rest`]);
    lab.time.now = noted.progress.expiresAt + ORPHAN_GRACE_MS;
    await sweep();
    expect(await lab.keys()).toEqual([]);
  });

  it('that breaks off again and again is stored to the byte', async () => {
    await begin();
    for (let offset = 0; offset < SIZE; offset = await offsetOf()) {
      const end = Math.min(SIZE, offset + 1 + Math.floor(Math.random() * 400_000));
      await append(offset, breaking(BYTES.subarray(offset, end), end < SIZE)).catch(() => undefined);
    }
    expect(await stored()).toEqual(WHOLE);
  });
});

async function* breaking(bytes: Buffer, breaks: boolean): AsyncGenerator<Buffer> {
  yield* chunksOf(bytes);
  if (breaks) throw new GatewayError('upload_incomplete');
}
