import { PassThrough, type Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { onceBegun, pump } from '../../../../gateway/relay/upstream/pump.js';

/** More than a turn of the event loop may last. */
const LONG_MS = 25;
const PACE = { idleMs: 60_000, leastRate: 0, graceMs: 60_000 };

const work = () => {
  for (const end = performance.now() + LONG_MS; performance.now() < end; );
};
const pumped = (body: Readable, take: (chunk: Buffer) => void, { signal } = new AbortController(), principal = 'ann') =>
  pump(
    body,
    (chunk) => {
      take(chunk);
      return undefined;
    },
    { server: 'files', principal, pace: PACE, due: () => true, signal },
  );

describe('answers that come at the same time', () => {
  /** Turns of the event loop so far. */
  let turn = 0;
  let ticking: NodeJS.Immediate;
  const tick = () => {
    turn += 1;
    ticking = setImmediate(tick);
  };
  /** What was done in each. */
  const done = new Map<number, number>();
  const note = () => void done.set(turn, (done.get(turn) ?? 0) + 1);

  beforeEach(() => {
    done.clear();
    tick();
  });
  afterEach(() => clearImmediate(ticking));

  it('are taken over several turns of the event loop, each of them whole', async () => {
    const bodies = Array.from({ length: 12 }, () => new PassThrough());
    const texts = bodies.map(() => '');
    const all = bodies.map((body, at) =>
      pumped(body, (chunk) => {
        texts[at] += chunk.toString();
        note();
        work();
      }),
    );
    for (const body of bodies) {
      body.write('first ');
      body.end('last');
    }
    await Promise.all(all);
    expect(new Set(texts)).toEqual(new Set(['first last']));
    // what came by itself, and what has waited for its turn
    expect(Math.max(...done.values())).toBeLessThanOrEqual(2);
  });

  it('are taken in turn for each caller, however many of them one caller has', async () => {
    const CHUNKS = 6;
    const OTHERS = 12;
    const taken: string[] = [];
    const sent = (principal: string) => {
      // what is written at once would otherwise be taken as one
      const body = new PassThrough({ readableHighWaterMark: 1, objectMode: true });
      const over = pumped(
        body,
        () => {
          taken.push(principal);
          work();
        },
        undefined,
        principal,
      );
      for (let at = 0; at < CHUNKS; at++) body.write(Buffer.from('a chunk'));
      body.end();
      return over;
    };
    const many = Array.from({ length: OTHERS }, () => sent('ann'));
    await sent('bob');
    // of each body one may be taken before the first turn is over
    expect(taken.filter((principal) => principal === 'ann').length).toBeLessThanOrEqual(OTHERS + 2 * CHUNKS);
    await Promise.all(many);
    expect(taken.length).toBe(CHUNKS * (OTHERS + 1));
  });

  it('are begun over several turns, too', async () => {
    const bodies = Array.from({ length: 12 }, () => new PassThrough());
    const all = bodies.map((body) =>
      onceBegun(body, { principal: 'ann' }, async () => {
        note();
        work();
      }),
    );
    for (const body of bodies) body.write('first');
    await Promise.all(all);
    expect([...done.values()].reduce((sum, count) => sum + count, 0)).toBe(12);
    expect(Math.max(...done.values())).toBeLessThanOrEqual(2);
  });

  describe('while one waits for its turn', () => {
    const waiting = (take: (chunk: Buffer) => void, signal?: AbortController) => {
      const busy = new PassThrough();
      const body = new PassThrough();
      const over = Promise.allSettled([pumped(busy, work), pumped(body, take, signal)]);
      busy.write('first');
      body.write('all');
      busy.end();
      return { body, over };
    };

    it('it is taken before a failure of its body is told', async () => {
      const taken: string[] = [];
      const { body, over } = waiting((chunk) => void taken.push(chunk.toString()));
      await new Promise<void>((resolve) => process.nextTick(resolve));
      expect(taken).toEqual([]);
      body.destroy(new Error('reset'));
      expect((await over)[1]).toEqual({ status: 'rejected', reason: new Error('reset') });
      expect(taken).toEqual(['all']);
    });

    it('it is dropped when its client goes', async () => {
      const client = new AbortController();
      const taken: string[] = [];
      const { over } = waiting((chunk) => void taken.push(chunk.toString()), client);
      await new Promise<void>((resolve) => process.nextTick(resolve));
      client.abort(new Error('gone'));
      expect((await over)[1]).toEqual({ status: 'rejected', reason: new Error('gone') });
      await new Promise(setImmediate);
      await new Promise(setImmediate);
      expect(taken).toEqual([]);
    });
  });
});
