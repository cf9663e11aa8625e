import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { HeldBudget, PartBudget } from '../../../gateway/files/budget.js';

const never = new AbortController().signal;

describe('the part budget', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it('grants at once what fits', () => {
    const budget = new PartBudget(10, 1000);
    expect(budget.reserve(6, never)).toBeUndefined();
    expect(budget.used).toBe(6);
  });

  it('grants in order of arrival, even where a later one would fit', async () => {
    const budget = new PartBudget(10, 1000);
    budget.reserve(6, never);
    const order: string[] = [];
    const large = budget.reserve(8, never)?.then(() => order.push('large'));
    const small = budget.reserve(2, never)?.then(() => order.push('small'));
    budget.release(6);
    await Promise.all([large, small]);
    expect(order).toEqual(['large', 'small']);
    expect(budget.used).toBe(10);
  });

  it('names the limit when the wait was too long', async () => {
    const budget = new PartBudget(10, 1000);
    budget.reserve(10, never);
    const waiting = budget.reserve(1, never);
    const refused = expect(waiting).rejects.toMatchObject({
      code: 'part_memory_full',
      facts: { limit: 'limits.partMemory', allowed: 10, waited: 1000 },
    });
    jest.advanceTimersByTime(1000);
    await refused;
    expect(budget.queued).toBe(0);
  });

  it('forgets who gave up, and serves the next', async () => {
    const budget = new PartBudget(10, 1000);
    budget.reserve(10, never);
    const gone = new AbortController();
    const first = budget.reserve(10, gone.signal);
    const second = budget.reserve(5, never);
    gone.abort(new Error('gone'));
    await expect(first).rejects.toThrow('gone');
    budget.release(10);
    await second;
    expect(budget.used).toBe(5);
  });
});

describe('the held budget', () => {
  it('refuses past its limit and recovers', () => {
    const held = new HeldBudget(10);
    held.add(8);
    expect(() => held.add(3)).toThrow(expect.objectContaining({ code: 'held_full' }));
    held.add(-11);
    expect(held.used).toBe(0);
    held.add(10);
  });
});
