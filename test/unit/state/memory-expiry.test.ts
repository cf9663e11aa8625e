import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { create } from '../../../adapters/state/memory.js';
import { Expiries } from '../../../adapters/state/memory-expiry.js';
import { UNSHARED } from '../../../gateway/budget/ledger.js';

describe('times of keys', () => {
  it('come in their order, however they were added, changed and removed', () => {
    const time = fc.integer({ min: 0, max: 50 });
    const step = fc.record({ what: fc.constantFrom('add', 'move', 'remove'), which: fc.nat(), time });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const expiries = new Expiries<{ expiresAt: number; place: number }>();
        const kept: { expiresAt: number; place: number }[] = [];
        for (const { what, which, time: expiresAt } of steps) {
          const one = kept[which % kept.length];
          if (what === 'add' || !one) {
            kept.push({ expiresAt, place: 0 });
            expiries.add(kept.at(-1) as { expiresAt: number; place: number });
          } else if (what === 'move') {
            one.expiresAt = expiresAt;
            expiries.move(one);
          } else {
            kept.splice(which % kept.length, 1);
            expiries.remove(one);
          }
          expect(expiries.first?.expiresAt).toBe(kept.length === 0 ? undefined : Math.min(...timesOf(kept)));
        }
        const found: number[] = [];
        for (let { first } = expiries; first; { first } = expiries) {
          found.push(first.expiresAt);
          expiries.remove(first);
        }
        expect(found).toEqual(timesOf(kept).sort((a, b) => a - b));
      }),
    );
  });
});

function timesOf(kept: readonly { expiresAt: number }[]): number[] {
  return kept.map(({ expiresAt }) => expiresAt);
}

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
