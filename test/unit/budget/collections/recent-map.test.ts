import { describe, expect, it } from '@jest/globals';
import { RecentMap } from '../../../../gateway/budget/collections/recent-map.js';

function mapOf(...keys: string[]): RecentMap<string, number> {
  const map = new RecentMap<string, number>();
  for (const [at, key] of keys.entries()) map.set(key, at);
  return map;
}

describe('a map in order of use', () => {
  it('begins with the value that was not used for longest', () => {
    const map = mapOf('a', 'b', 'c');
    expect([map.use('a'), map.peek('b'), map.use('x')]).toEqual([0, 1, undefined]);
    expect([...map.entries()]).toEqual([
      ['b', 1],
      ['c', 2],
      ['a', 0],
    ]);
  });

  it('has one value for each key, and the one set last comes last', () => {
    const map = mapOf('a', 'b');
    map.set('a', 7);
    expect([...map.keys()]).toEqual(['b', 'a']);
    expect([...map.values()]).toEqual([1, 7]);
    expect(map.size).toBe(2);
  });

  it('forgets a value, and all of them', () => {
    const map = mapOf('a', 'b', 'c');
    expect([map.delete('b'), map.delete('b'), map.peek('b')]).toEqual([true, false, undefined]);
    expect([...map.keys()]).toEqual(['a', 'c']);
    map.clear();
    expect([map.size, map.use('a'), ...map.keys()]).toEqual([0, undefined]);
  });

  it('makes room by deleting what it gives, from the oldest on', () => {
    const map = mapOf('a', 'b', 'c', 'd');
    for (const key of map.keys()) {
      if (map.size === 1) break;
      map.delete(key);
    }
    expect([...map.keys()]).toEqual(['d']);
  });
});
