import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { BufferPool } from '../../../../gateway/budget/memory/buffer-pool.js';

describe('a pool of buffers', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  /** Takes so many, and gives them back. */
  function used(pool: BufferPool, count: number): Buffer[] {
    const taken = Array.from({ length: count }, () => pool.take());
    for (const buffer of taken) pool.giveBack(buffer);
    return taken;
  }

  it('hands out what was given back, and never one buffer twice', () => {
    const pool = new BufferPool(10, 0);
    const before = used(pool, 3);
    const again = used(pool, 3);
    expect(new Set(again)).toEqual(new Set(before));
    expect(again.every(({ length }) => length === 10)).toBe(true);
  });

  it('keeps a few when nothing was taken for a while', () => {
    const pool = new BufferPool(10, 1);
    const before = new Set(used(pool, 3));
    jest.advanceTimersByTime(10_000);
    const again = used(pool, 3);
    expect(again.filter((buffer) => before.has(buffer))).toHaveLength(1);
  });

  it('keeps all while some are taken', () => {
    const pool = new BufferPool(10, 0);
    const before = new Set(used(pool, 3));
    for (let seconds = 0; seconds < 30; seconds += 5) {
      jest.advanceTimersByTime(5000);
      used(pool, 1);
    }
    expect(used(pool, 3).every((buffer) => before.has(buffer))).toBe(true);
  });
});
