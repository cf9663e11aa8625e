import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { create } from '../../../adapters/state/memory.js';
import { Expiries } from '../../../adapters/state/memory-expiry.js';
import { UNSHARED } from '../../../gateway/budget/ledger.js';

describe('times of keys', () => {
  it('come in their order, however they were added', () => {
    const times = fc.array(fc.integer({ min: 0, max: 50 }), { maxLength: 60 });
    fc.assert(
      fc.property(times, times, (before, after) => {
        const expiries = new Expiries();
        expiries.replace(before.map((at) => ({ at, key: '' })));
        for (const at of after) expiries.add({ at, key: '' });
        const found: number[] = [];
        for (let due = expiries.first; due; due = expiries.first) {
          found.push(due.at);
          expiries.removeFirst();
        }
        expect(found).toEqual([...before, ...after].sort((a, b) => a - b));
      }),
    );
  });
});

describe('a full state store in memory', () => {
  const made = async (maxKeys: number) => {
    let now = 0;
    const store = create({ maxKeys }, { clock: { ticks: () => now }, sharing: UNSHARED });
    const fits = (key: string, ttlMs = 1e9) => store.create(key, 'v', ttlMs).catch(() => 'full');
    return {
      store,
      fits,
      at: (time: number) => {
        now = time;
      },
    };
  };

  it('has room for one more with each key that has expired, and not before', async () => {
    const { store, fits, at } = await made(3);
    for (const [key, ttlMs] of [['a', 30] as const, ['b', 10] as const, ['c', 20] as const]) await fits(key, ttlMs);
    expect(await store.extend('b', 25)).toBe(true);
    expect(await store.replace('a', 'v', 'v', 5)).toBe(true);
    const rooms: unknown[] = [];
    for (const time of [4, 5, 6, 19, 20, 21, 24, 25]) {
      at(time);
      rooms.push(await fits(`at ${time}`));
    }
    expect(rooms).toEqual(['full', true, 'full', 'full', true, 'full', 'full', true]);
    await store.close();
  });

  it('takes keys that come and go, of which no time is kept, and looks at none of the others for a refusal', async () => {
    const most = 100_000;
    const { store, fits, at } = await made(most);
    for (let index = 0; index < most; index++) await fits(`k${index}`, 1000 + index);
    // each refusal would look at all keys: 2000 of them took two seconds
    for (let index = 0; index < 1000; index++) {
      at(1000 + index);
      expect(await fits(`new ${index}`)).toBe(true);
      expect(await fits(`more ${index}`)).toBe('full');
    }
    for (let index = 0; index < 5000; index++) {
      await store.remove(`new ${index % 1000}`);
      expect(await fits(`new ${index % 1000}`)).toBe(true);
    }
    await store.close();
  });
});
