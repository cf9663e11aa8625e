import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { HeldBudget, HeldRequest, PartBudget } from '../../../gateway/files/budget.js';
import { DEFAULT_LIMITS } from '../../../gateway/policy/limits.js';
import { inputLines } from '../../../gateway/stdio/input.js';

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

describe('what a request counts of the held budget', () => {
  const MESSAGE = 100;

  it('is its bytes, and four times as many once it is longer than limits.message', () => {
    const held = new HeldBudget(10_000);
    const request = new HeldRequest(held, { message: MESSAGE });
    request.grow(60);
    request.grow(40);
    expect(held.used).toBe(100);
    request.grow(1);
    expect(held.used).toBe(404);
    request.grow(99);
    expect(held.used).toBe(800);
    request.release();
    request.release();
    expect(held.used).toBe(0);
  });

  it('counts until it is released, also where it was too much', () => {
    const held = new HeldBudget(300);
    const request = new HeldRequest(held, { message: MESSAGE });
    request.grow(100);
    expect(() => request.grow(1)).toThrow(expect.objectContaining({ code: 'held_full' }));
    request.release();
    expect(held.used).toBe(0);
  });

  it('is the same on standard input', async () => {
    const limits = { ...DEFAULT_LIMITS, message: 40_000 };
    const line = `{"id":1,"method":"tools/call","params":{"arguments":{"file":"${'A'.repeat(100_000)}"}}}`;
    const read = async (budget: number) => {
      const held = new HeldBudget(budget);
      const lines = [];
      for await (const one of inputLines(Readable.from([Buffer.from(`${line}\n`)]), limits, held)) lines.push(one);
      expect(held.used).toBe(0);
      return lines;
    };
    expect(await read(line.length * 4)).toEqual([{ bytes: Buffer.from(line) }]);
    expect(await read(line.length * 4 - 1)).toEqual([
      { error: expect.objectContaining({ code: 'held_full' }), id: '1' },
    ]);
  });
});
