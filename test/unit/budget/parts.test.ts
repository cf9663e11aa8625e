import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Ledger, UNSHARED } from '../../../gateway/budget/ledger.js';
import { PartBudget } from '../../../gateway/budget/parts.js';
import { partBudget } from '../../helpers/budgets.js';

const never = new AbortController().signal;
const OWNER = { principal: 'ann', server: 'one' };

describe('the part budget', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it('grants at once what fits', () => {
    const budget = partBudget(10, 1000);
    expect(budget.reserve(6, OWNER, never)).toBeUndefined();
    expect(budget.used).toBe(6);
  });

  it('grants in order of arrival, even where a later one would fit', async () => {
    const budget = partBudget(10, 1000);
    budget.reserve(6, OWNER, never);
    const order: string[] = [];
    const large = budget.reserve(8, OWNER, never)?.then(() => order.push('large'));
    const small = budget.reserve(2, OWNER, never)?.then(() => order.push('small'));
    budget.release(6, OWNER);
    await Promise.all([large, small]);
    expect(order).toEqual(['large', 'small']);
    expect(budget.used).toBe(10);
  });

  it('grants what waits once its total has become larger', async () => {
    const ledger = new Ledger({ limit: 'limits.partMemory', total: 10, sharing: UNSHARED });
    const budget = new PartBudget(ledger, 1000);
    budget.reserve(8, OWNER, never);
    const waiting = budget.reserve(8, OWNER, never);
    ledger.resize({ total: 16 });
    budget.lookAgain();
    await waiting;
    expect([budget.used, budget.queued]).toEqual([16, 0]);
  });

  it('names the limit when the wait was too long', async () => {
    const budget = partBudget(10, 1000);
    budget.reserve(10, OWNER, never);
    const waiting = budget.reserve(1, OWNER, never);
    const refused = expect(waiting).rejects.toMatchObject({
      code: 'part_memory_full',
      facts: { limit: 'limits.partMemory', allowed: 10, waited: 1000 },
    });
    await jest.advanceTimersByTimeAsync(1001);
    await refused;
    expect(budget.queued).toBe(0);
  });

  it('forgets who gave up, and serves the next', async () => {
    const budget = partBudget(10, 1000);
    budget.reserve(10, OWNER, never);
    const gone = new AbortController();
    const first = budget.reserve(10, OWNER, gone.signal);
    const second = budget.reserve(5, OWNER, never);
    gone.abort(new Error('gone'));
    await expect(first).rejects.toThrow('gone');
    budget.release(10, OWNER);
    await second;
    expect(budget.used).toBe(5);
  });
});
