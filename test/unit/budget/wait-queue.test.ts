import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Ledger, UNSHARED } from '../../../gateway/budget/ledger.js';
import { WaitQueue } from '../../../gateway/budget/wait-queue.js';
import type { Sharing } from '../../../gateway/ports/owner.js';

const never = new AbortController().signal;
const WAIT_MS = 1000;
const SHARED: Sharing = { ratio: 0.5, principals: true, servers: true };
const ann = { principal: 'ann' };
const bob = { principal: 'bob' };

function queue(total: number, sharing: Sharing = UNSHARED, most?: number) {
  const ledger = new Ledger({ limit: 'limits.partMemory', total, sharing });
  const full = ({ full: what, actual }: { full: string; actual: number }, waited: number) =>
    new Error(`${what} ${actual} ${waited}`);
  return { ledger, queue: new WaitQueue({ ledger, waitMs: WAIT_MS, full, ...(most !== undefined && { most }) }) };
}

/** Lets what has been granted or refused be seen. */
const settle = () => jest.advanceTimersByTimeAsync(0);

describe('a queue for a ledger', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it('passes over an owner whose share is full, and holds up no other behind it', async () => {
    const { queue: parts, ledger } = queue(4, SHARED);
    parts.take(2, ann, never);
    const waits = parts.take(1, ann, never);
    expect(waits).toBeInstanceOf(Promise);
    expect(parts.take(1, bob, never)).toBeUndefined();
    parts.give(1, ann);
    await waits;
    expect(ledger.used).toBe(3);
  });

  it.each([-3_600_000, 3_600_000])('gives up a waiter in its time, though the clock is set by %i ms', async (ms) => {
    const { queue: parts } = queue(1);
    parts.take(1, ann, never);
    const given = expect(parts.take(1, bob, never)).rejects.toThrow(`process 2 ${WAIT_MS}`);
    await jest.advanceTimersByTimeAsync(WAIT_MS / 2);
    jest.setSystemTime(Date.now() + ms);
    await jest.advanceTimersByTimeAsync(WAIT_MS / 2 + 10);
    await given;
  });

  it('serves an owner with a full share in the order in which it came', async () => {
    const { queue: parts } = queue(4, SHARED);
    parts.take(2, ann, never);
    const order: number[] = [];
    for (const n of [1, 2, 3]) void parts.take(1, ann, never)?.then(() => order.push(n));
    for (const _ of [1, 2, 3]) {
      parts.give(1, ann);
      await settle();
    }
    expect(order).toEqual([1, 2, 3]);
  });

  it('lets no small one of another owner overtake a large one for which there is no room yet', async () => {
    const { queue: parts } = queue(4);
    parts.take(3, ann, never);
    const order: string[] = [];
    void parts.take(2, bob, never)?.then(() => order.push('large'));
    const small = parts.take(1, { principal: 'cid' }, never);
    expect(small).toBeInstanceOf(Promise);
    void small?.then(() => order.push('small'));
    await settle();
    expect(order).toEqual([]);
    parts.give(3, ann);
    await settle();
    expect(order).toEqual(['large', 'small']);
  });

  it('waits as long as something moves ahead, however long that takes in all', async () => {
    const { queue: parts } = queue(1);
    parts.take(1, ann, never);
    const waiting = Array.from({ length: 50 }, () => parts.take(1, ann, never)?.then(() => 'granted'));
    for (const wait of waiting) {
      await jest.advanceTimersByTimeAsync(WAIT_MS - 100);
      parts.give(1, ann);
      expect(await wait).toBe('granted');
    }
  });

  it('gives up a waiter ahead of which nothing has moved, and says what is full', async () => {
    const { queue: parts } = queue(4, SHARED);
    parts.take(2, ann, never);
    const refused = expect(parts.take(1, ann, never)).rejects.toThrow('principal 3 1000');
    // others that come and go do not help it: its clock runs
    for (const _ of [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]) {
      parts.take(1, bob, never);
      await jest.advanceTimersByTimeAsync(100);
      parts.give(1, bob);
    }
    await refused;
    expect(parts.length).toBe(0);
  });

  it('gives up no waiter because the process itself was busy', async () => {
    const { queue: parts } = queue(1);
    parts.take(1, ann, never);
    const wait = parts.take(1, ann, never)?.then(() => 'granted');
    // the timer is due, and what frees the part is read in the same turn of the loop
    setTimeout(() => setImmediate(() => parts.give(1, ann)), WAIT_MS - 1);
    jest.advanceTimersByTime(WAIT_MS - 1);
    const late = performance.now() + 60_000;
    const clock = jest.spyOn(performance, 'now').mockReturnValue(late);
    await jest.advanceTimersByTimeAsync(1);
    expect(await wait).toBe('granted');
    clock.mockRestore();
  });

  it.each([
    ['back', -3_600_000],
    ['forward', 3_600_000],
  ])('waits neither longer nor shorter when the machine’s clock is set %s', async (_, by) => {
    const { queue: parts } = queue(1);
    parts.take(1, ann, never);
    let outcome = 'waits';
    parts.take(1, ann, never)?.catch(({ message }: Error) => {
      outcome = message;
    });
    jest.setSystemTime(Date.now() + by);
    await jest.advanceTimersByTimeAsync(WAIT_MS / 2);
    parts.give(0, ann);
    await jest.advanceTimersByTimeAsync(WAIT_MS / 2 - 1);
    expect(outcome).toBe('waits');
    await jest.advanceTimersByTimeAsync(2);
    expect(outcome).toBe('process 2 1000');
  });

  it('grants what waited behind one that has given up', async () => {
    const { queue: parts, ledger } = queue(4);
    parts.take(3, ann, never);
    const gone = new AbortController();
    const large = parts.take(4, ann, gone.signal);
    const small = parts.take(1, bob, never);
    expect(small).toBeInstanceOf(Promise);
    gone.abort(new Error('gone'));
    await expect(large).rejects.toThrow('gone');
    await small;
    expect(ledger.used).toBe(4);
  });

  it('lets one owner take no more than its share of the places to wait either', async () => {
    const { queue: slots } = queue(2, SHARED, 4);
    slots.take(1, ann, never);
    slots.take(1, bob, never);
    const waiting = [slots.take(1, ann, never), slots.take(1, ann, never)];
    const third = slots.take(1, ann, never)?.catch(({ message }: Error) => message);
    expect(await Promise.race([third, settle().then(() => 'it waits')])).toBe('principal 2 0');
    const other = slots.take(1, bob, never);
    slots.give(1, bob);
    await other;
    for (const wait of waiting) {
      slots.give(1, ann);
      await wait;
    }
  });

  it('refuses at once where no more may wait', async () => {
    const { queue: slots } = queue(1, UNSHARED, 1);
    slots.take(1, ann, never);
    const waiting = slots.take(1, ann, never);
    await expect(slots.take(1, ann, never)).rejects.toThrow('process 2 0');
    slots.give(1, ann);
    await waiting;
  });

  it('serves thousands of waiters of one owner, and looks at the ledger a few times for each', async () => {
    const COUNT = 20_000;
    const { queue: parts, ledger } = queue(2, SHARED);
    const looks = jest.spyOn(ledger, 'refusal');
    parts.take(1, ann, never);
    let granted = 0;
    for (let n = 0; n < COUNT; n += 1) {
      // Node finds an abort listener among those of one signal by walking over them
      void parts.take(1, ann, new AbortController().signal)?.then(() => {
        granted += 1;
      });
    }
    for (let n = 0; n < COUNT; n += 1) parts.give(1, ann);
    await settle();
    expect(granted).toBe(COUNT);
    expect(looks.mock.calls.length).toBeLessThan(5 * COUNT);
    expect(parts.length).toBe(0);
  });
});
