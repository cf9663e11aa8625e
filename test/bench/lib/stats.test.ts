import { describe, expect, it } from '@jest/globals';
import { interleave, median, middle, quantile, ratio } from './stats.js';

describe('the bench statistics', () => {
  it('take the middle of the values, between two where there is none', () => {
    expect(median([3, 1, 2])).toBe(2);
    expect(median([4, 1, 2, 3])).toBe(2.5);
    expect(quantile([0, 10], 0.9)).toBe(9);
    expect(median([])).toBeNaN();
  });

  it('rotate the order each round and leave the warm-up out', async () => {
    const order: string[] = [];
    const samples = await interleave(['a', 'b', 'c'], 2, async (name) => {
      order.push(name);
      return order.length;
    });
    expect(order.join('')).toBe('abcabcbca');
    expect(samples.get('a')).toEqual([4, 9]);
  });

  it('divide figures of the same round only', () => {
    const samples = new Map<string, (number | undefined)[]>([
      ['base', [1, 10, undefined]],
      ['other', [2, 30, 1000]],
    ]);
    expect(ratio(samples, 'other', 'base', (value) => value)).toBe(2.5);
    expect(middle(samples, 'base', (value) => value)).toBe(5.5);
  });
});
