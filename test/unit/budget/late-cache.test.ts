import { describe, expect, it } from '@jest/globals';
import { LateCache } from '../../../gateway/budget/late-cache.js';

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
});
