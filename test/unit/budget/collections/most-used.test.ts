import { describe, expect, it } from '@jest/globals';
import { MostUsed } from '../../../../gateway/budget/collections/most-used.js';

describe('the owner that uses most', () => {
  it('is found after any steps as by a look at all', () => {
    const used = new MostUsed();
    const amounts = new Map<string, number>();
    let seed = 7;
    const random = (below: number) => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % below;
    };
    for (let step = 0; step < 5000; step++) {
      const owner = `o${random(20)}`;
      const before = amounts.get(owner) ?? 0;
      const amount = random(2) === 0 ? -Math.min(before, random(5)) : random(5);
      used.add(owner, amount);
      amounts.set(owner, before + amount);
      const most = Math.max(...amounts.values());
      expect(amounts.get(used.most ?? '') ?? 0).toBe(most);
    }
    for (const [owner, amount] of amounts) used.add(owner, -amount);
    expect(used.most).toBeUndefined();
  });

  it('is the one that was silent for longest, of several with as much', () => {
    const used = new MostUsed();
    for (const owner of ['a', 'b', 'c']) used.add(owner, 2);
    expect(used.most).toBe('a');
    used.use('a');
    used.use('unknown');
    expect(used.most).toBe('b');
    used.add('b', -1);
    expect(used.most).toBe('c');
  });
});
