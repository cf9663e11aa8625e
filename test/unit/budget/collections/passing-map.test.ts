import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from '@jest/globals';
import { PassingMap } from '../../../../gateway/budget/collections/passing-map.js';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as (options: { type: 'minor' }) => void;

/** Values that come, each with what is about 16 KB of heap, and leave after a few others have come. */
const VALUES = 2000;
const AT_ONCE = 8;
/** Of the 32 MB that have come. A `Map` keeps 11 MB or more. */
const MOST_KEPT = 4_000_000;

describe('a map of what comes and goes', () => {
  it('has one value for each key', () => {
    const map = new PassingMap<number>();
    map.set('a', 1);
    map.set('b', 2);
    map.set('a', 3);
    expect([map.get('a'), map.get('b'), map.get('c'), map.size]).toEqual([3, 2, undefined, 2]);
    expect([map.has('a'), map.has('c')]).toEqual([true, false]);
  });

  it('forgets a value once', () => {
    const map = new PassingMap<number>();
    map.set('a', 1);
    expect([map.delete('a'), map.delete('a'), map.get('a'), map.has('a'), map.size]).toEqual([
      true,
      false,
      undefined,
      false,
      0,
    ]);
    map.set('a', 2);
    expect(map.get('a')).toBe(2);
  });

  it('does not keep what has left until all of the heap is collected', async () => {
    const map = new PassingMap<number[]>();
    map.set('first', []);
    // what has outlived two collections of young objects is old
    for (let round = 0; round < 3; round++) collect({ type: 'minor' });
    const before = process.memoryUsage().heapUsed;
    for (let n = 0; n < VALUES; n++) {
      map.set(`value ${n}`, new Array<number>(2000).fill(n));
      map.delete(`value ${n - AT_ONCE}`);
      if (n % 20 !== 0) continue;
      await nextTurn();
      collect({ type: 'minor' });
    }
    expect(map.size).toBe(AT_ONCE + 1);
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(MOST_KEPT);
  });
});
