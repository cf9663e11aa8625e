import { describe, expect, it } from '@jest/globals';
import { PartBuffers } from '../../../../gateway/files/ingest/part-buffers.js';
import { PartLease } from '../../../../gateway/files/ingest/part-lease.js';
import { partBudget } from '../../../helpers/budgets.js';

const PART = 1024;
const never = new AbortController().signal;

function lab(parts: number) {
  const budget = partBudget(parts * PART, 1000);
  const deps = { budget, buffers: new PartBuffers(PART) };
  return { budget, lease: (signal = never) => new PartLease(deps, {}, signal) };
}

describe('a lease of a part', () => {
  it('is granted once, however often it is asked for', () => {
    const { budget, lease } = lab(2);
    const one = lease();
    expect(one.reserve()).toBeUndefined();
    expect(one.reserve()).toBeUndefined();
    expect(budget.used).toBe(PART);
    one.free();
    one.free();
    expect(budget.used).toBe(0);
  });

  it('gives the same promise as long as it waits', async () => {
    const { budget, lease } = lab(1);
    const [first, second] = [lease(), lease()];
    first.reserve();
    const wait = second.reserve();
    expect(wait).toBeInstanceOf(Promise);
    expect(second.reserve()).toBe(wait);
    expect(budget.queued).toBe(1);
    first.free();
    await wait;
    expect(second.reserve()).toBeUndefined();
    expect(second.buffer.length).toBeGreaterThan(PART);
  });

  it('given up while it waits takes nothing from those behind it', async () => {
    const { budget, lease } = lab(1);
    const [first, second, third] = [lease(), lease(), lease()];
    first.reserve();
    const given = second.reserve();
    const behind = third.reserve();
    second.free();
    first.free();
    await Promise.all([given, behind]);
    expect(budget.used).toBe(PART);
    third.free();
    expect(budget.used).toBe(0);
  });

  it('has no buffer before it is granted, nor after its end', () => {
    const one = lab(1).lease();
    expect(() => one.buffer).toThrow('before it was granted');
    one.reserve();
    expect(one.buffer).toBe(one.buffer);
    one.free();
    expect(() => one.buffer).toThrow('after its end');
  });

  it('fails with the signal’s reason when its exchange is over', async () => {
    const { budget, lease } = lab(1);
    lease().reserve();
    const gone = new AbortController();
    const wait = lease(gone.signal).reserve();
    gone.abort(new Error('gone'));
    await expect(wait).rejects.toThrow('gone');
    expect(budget.queued).toBe(0);
  });
});
