import { describe, expect, it } from '@jest/globals';
import { LateCache } from '../../../../gateway/budget/collections/late-cache.js';

describe('a cache that is made late', () => {
  it('has nothing before its first value', () => {
    const cache = new LateCache<number>({ max: 2 });
    cache.delete('a');
    expect([cache.has('a'), cache.get('a')]).toEqual([false, undefined]);
  });

  it('drops the value unused longest when it has too many', () => {
    const cache = new LateCache<number>({ max: 2 });
    cache.set('a', 1);
    cache.set('b', 2);
    // a look does not count as a use, a read does
    expect([cache.has('b'), cache.get('a')]).toEqual([true, 1]);
    cache.set('c', 3);
    expect(['a', 'b', 'c'].map((key) => cache.get(key))).toEqual([1, undefined, 3]);
    cache.delete('a');
    expect(cache.has('a')).toBe(false);
  });

  it('keeps a value for its time, by the clock that it is given', () => {
    let now = 1000;
    const cache = new LateCache<number>({ max: 2, ttl: 10, clock: { now: () => now } });
    cache.set('a', 1);
    now += 10;
    expect(cache.get('a')).toBe(1);
    now += 1;
    expect(cache.get('a')).toBeUndefined();
  });

  it('says which keys it has, and forgets all at once', () => {
    const cache = new LateCache<number>({ max: 2 });
    cache.clear();
    expect(cache.keys()).toEqual([]);
    for (const key of ['a', 'b', 'c']) cache.set(key, 1);
    expect(cache.keys().sort()).toEqual(['b', 'c']);
    cache.clear();
    expect([cache.keys(), cache.has('c')]).toEqual([[], false]);
  });

  it('has room for as many values again after it was full and emptied', () => {
    const cache = new LateCache<number>({ max: 100 });
    for (let key = 0; key < 1000; key++) cache.set(`${key}`, key);
    for (const key of cache.keys()) cache.delete(key);
    for (let key = 0; key < 100; key++) cache.set(`${key}`, -key);
    expect(cache.keys()).toHaveLength(100);
    expect(cache.get('99')).toBe(-99);
  });
});
