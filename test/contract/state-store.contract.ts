import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Sharing } from '../../gateway/ports/owner.js';
import type { StateStore } from '../../gateway/ports/state-store.js';

const HOUR = 3_600_000;

interface StateUnderTest {
  store: StateStore;
  /** Lets `ms` pass for every key of the store, at once. */
  advance(ms: number): Promise<void>;
}

/** The most keys that a store may hold, and how they are shared. */
interface Bounds {
  maxKeys: number;
  sharing: Sharing;
}

/**
 * What every state store does.
 * @param make a store with nothing in it, and the way to move its time; with bounds where some are given
 */
export function describeStateStore(name: string, make: (bounds?: Bounds) => Promise<StateUnderTest>): void {
  describe(`state store: ${name}`, () => {
    let store: StateStore;
    let advance: StateUnderTest['advance'];
    let count = 0;
    /** A key that no other test has touched. */
    const fresh = () => {
      count += 1;
      return `file:f_${count}`;
    };

    beforeAll(async () => {
      ({ store, advance } = await make());
    });
    afterAll(async () => {
      await store.close();
    });

    describe('a tally', () => {
      const add = (part: string, by: number, ttlMs = HOUR) => ({ part, by, ttlMs });

      it('is the sum of its parts, and takes no more than its limit', async () => {
        const key = fresh();
        expect(await store.tally(key, [add('a', 5), add('b', 2)], 10)).toEqual({ isWithin: true, total: 7 });
        expect(await store.tally(key, [add('a', 3)], 10)).toEqual({ isWithin: true, total: 10 });
        expect(await store.tally(key, [add('c', 1)], 10)).toMatchObject({ isWithin: false, total: 11 });
        expect(await store.tally(key, [add('a', -8), add('c', 1)], 10)).toEqual({ isWithin: true, total: 3 });
        expect(await store.tally(key, [add('b', -50)])).toEqual({ isWithin: true, total: 1 });
        expect(await store.tally(key, [add('d', 9_007_199_254_740_000)])).toMatchObject({
          total: 9_007_199_254_740_001,
        });
      });

      it('moves an amount once, however often it is asked to, where the limit is 0', async () => {
        const key = fresh();
        const move = () => store.tally(key, [add('lease', -100), add('kept', 10, 2 * HOUR)], 0);
        await store.tally(key, [add('lease', 10), add('other', 5)]);
        expect(await move()).toEqual({ isWithin: true, total: 15 });
        expect(await move()).toMatchObject({ isWithin: false });
        expect(await store.tally(key, [add('kept', -10)])).toEqual({ isWithin: true, total: 5 });
      });

      it('moves an amount from one part to another at its limit, and gives back past it', async () => {
        const key = fresh();
        await store.tally(key, [add('lease', 10)], 10);
        expect(await store.tally(key, [add('lease', -10), add('kept', 10)], 10)).toMatchObject({ isWithin: true });
        expect(await store.tally(key, [add('kept', -1)], 5)).toEqual({ isWithin: true, total: 9 });
        expect(await store.tally(key, [add('kept', 0)], 5)).toEqual({ isWithin: true, total: 9 });
      });

      it('loses each part when its time is over, and says when a change will fit', async () => {
        const key = fresh();
        await store.tally(key, [add('a', 4, HOUR), add('b', 4, 2 * HOUR), add('c', 2, 3 * HOUR)], 10);
        const refused = await store.tally(key, [add('d', 5)], 10);
        expect(refused).toMatchObject({ isWithin: false, total: 15 });
        expect(refused.fitsInMs).toBeGreaterThan(1.9 * HOUR);
        expect(refused.fitsInMs).toBeLessThanOrEqual(2 * HOUR);
        expect((await store.tally(key, [add('d', 11)], 10)).fitsInMs).toBeUndefined();
        await advance(2.5 * HOUR);
        expect(await store.tally(key, [add('d', 8)], 10)).toEqual({ isWithin: true, total: 10 });
        await advance(4 * HOUR);
        expect(await store.tally(key, [], 10)).toEqual({ isWithin: true, total: 0 });
      });

      it('loses what was reserved for a change that it refuses, in the same step', async () => {
        const key = fresh();
        await store.tally(key, [add('a', 4, HOUR), add('mine', 4, 2 * HOUR), add('c', 2, 3 * HOUR)], 10);
        const refused = await store.tally(key, [add('mine', 3)], 10, ['mine', 'not there']);
        expect(refused).toMatchObject({ isWithin: false, total: 13 });
        // it is told when other parts leave
        expect(refused.fitsInMs).toBeLessThanOrEqual(HOUR);
        expect(await store.tally(key, [add('d', 4)], 10, ['a'])).toEqual({ isWithin: true, total: 10 });
        expect(await store.tally(key, [add('e', 11)], 10, ['a', 'c', 'd'])).toMatchObject({ isWithin: false });
        expect(await store.tally(key, [add('e', 10)], 10)).toEqual({ isWithin: true, total: 10 });
      });

      it('keeps a part for the longest time that it was given', async () => {
        const key = fresh();
        await store.tally(key, [add('a', 1, 4 * HOUR)]);
        await store.tally(key, [add('a', 1, HOUR)]);
        await advance(2 * HOUR);
        expect(await store.tally(key, [])).toEqual({ isWithin: true, total: 2 });
      });

      it('never passes its limit when many change it at once', async () => {
        const key = fresh();
        const all = await Promise.all(
          Array.from({ length: 200 }, (_, index) => store.tally(key, [add(`lease${index}`, 10)], 100)),
        );
        expect(all.filter(({ isWithin }) => isWithin)).toHaveLength(10);
        expect(await store.tally(key, [])).toEqual({ isWithin: true, total: 100 });
      });
    });

    it('creates a key once and reads it back', async () => {
      const key = fresh();
      expect(await store.read(key)).toBeUndefined();
      expect(await store.create(key, 'first', HOUR)).toBe(true);
      expect(await store.create(key, 'second', HOUR)).toBe(false);
      expect(await store.read(key)).toBe('first');
    });

    it.each([
      ['nothing', ''],
      ['JSON', '{"name":"a \\"b\\" ü 漢 🎈","n":1e400}'],
      ['line breaks and NUL', 'a\r\n\0b'],
      ['256 KiB', 'x'.repeat(256 * 1024)],
    ])('keeps a value of %s as it is', async (_, value) => {
      const key = fresh();
      await store.create(key, value, HOUR);
      expect(await store.read(key)).toBe(value);
      expect(await store.replace(key, value, `${value}!`, HOUR)).toBe(true);
      expect(await store.take(key)).toBe(`${value}!`);
    });

    it.each(['digest:user@example.com:47DEQpj8HBSa-_TImW', 'ticket:{a}:*?[]', 'file: a b'])(
      'takes the key %j',
      async (key) => {
        await store.create(key, 'v', HOUR);
        expect(await store.read(key)).toBe('v');
        await store.remove(key);
        expect(await store.read(key)).toBeUndefined();
      },
    );

    it('lets only one of many creators win', async () => {
      const key = fresh();
      const won = await Promise.all(Array.from({ length: 50 }, (_, n) => store.create(key, `${n}`, HOUR)));
      expect(won.filter(Boolean)).toHaveLength(1);
      expect(await store.read(key)).toBe(`${won.indexOf(true)}`);
    });

    it('gives a value to only one of many takers', async () => {
      const key = fresh();
      await store.create(key, 'ticket', HOUR);
      const taken = await Promise.all(Array.from({ length: 50 }, () => store.take(key)));
      expect(taken.filter((value) => value !== undefined)).toEqual(['ticket']);
      expect(await store.read(key)).toBeUndefined();
      expect(await store.create(key, 'again', HOUR)).toBe(true);
    });

    it('lets only one of many replacers win', async () => {
      const key = fresh();
      await store.create(key, 'old', HOUR);
      const won = await Promise.all(Array.from({ length: 50 }, (_, n) => store.replace(key, 'old', `new ${n}`, HOUR)));
      expect(won.filter(Boolean)).toHaveLength(1);
      expect(await store.read(key)).toBe(`new ${won.indexOf(true)}`);
    });

    it('replaces nothing that is missing or holds something else', async () => {
      const key = fresh();
      expect(await store.replace(key, '', 'x', HOUR)).toBe(false);
      expect(await store.read(key)).toBeUndefined();
      await store.create(key, 'a', HOUR);
      expect(await store.replace(key, 'b', 'x', HOUR)).toBe(false);
      expect(await store.read(key)).toBe('a');
    });

    it('removes a key, and does not mind when there is none', async () => {
      const key = fresh();
      await store.create(key, 'v', HOUR);
      await store.remove(key);
      await store.remove(key);
      expect(await store.read(key)).toBeUndefined();
      expect(await store.take(key)).toBeUndefined();
    });

    describe('when time passes', () => {
      it('forgets a key after its time to live, for every verb', async () => {
        const keys = [fresh(), fresh(), fresh(), fresh(), fresh()] as const;
        for (const key of keys) await store.create(key, 'v', HOUR);
        await advance(HOUR - 1000);
        expect(await store.read(keys[0])).toBe('v');
        await advance(2000);
        expect(await store.read(keys[0])).toBeUndefined();
        expect(await store.extend(keys[1], HOUR)).toBe(false);
        expect(await store.replace(keys[2], 'v', 'w', HOUR)).toBe(false);
        expect(await store.take(keys[3])).toBeUndefined();
        expect(await store.create(keys[4], 'new', HOUR)).toBe(true);
      });

      it('keeps an extended key for as long as it was extended', async () => {
        const key = fresh();
        await store.create(key, 'v', HOUR);
        await advance(HOUR / 2);
        expect(await store.extend(key, HOUR)).toBe(true);
        await advance(HOUR - 1000);
        expect(await store.read(key)).toBe('v');
        await advance(2000);
        expect(await store.read(key)).toBeUndefined();
      });

      it('never shortens a life by extending it', async () => {
        const key = fresh();
        await store.create(key, 'v', HOUR);
        expect(await store.extend(key, 1000)).toBe(true);
        await advance(HOUR - 1000);
        expect(await store.read(key)).toBe('v');
      });

      it('gives a replaced value the new time to live, be it shorter', async () => {
        const key = fresh();
        await store.create(key, 'v', HOUR);
        expect(await store.replace(key, 'v', 'w', HOUR / 4)).toBe(true);
        await advance(HOUR / 2);
        expect(await store.read(key)).toBeUndefined();
      });

      it('does not lengthen a life by reading, or by losing a create', async () => {
        const key = fresh();
        await store.create(key, 'v', HOUR);
        await advance(HOUR / 2);
        await store.read(key);
        await store.create(key, 'w', 10 * HOUR);
        await store.replace(key, 'other', 'w', 10 * HOUR);
        await advance(HOUR / 2 + 1000);
        expect(await store.read(key)).toBeUndefined();
      });
    });

    describe('that is bounded', () => {
      const bounds: Bounds = { maxKeys: 8, sharing: { ratio: 0.25, principals: true, servers: true } };
      const ann = { principal: 'ann' };
      const at = (principal: string, server: string) => ({ principal, server });
      let bounded: StateUnderTest;

      beforeEach(async () => {
        bounded = await make(bounds);
      });
      afterEach(async () => {
        await bounded.store.close();
      });

      it('refuses a caller and a server whose share of the keys is full, and no other one', async () => {
        const { store: full } = bounded;
        expect(await full.create('a', '1', HOUR, at('ann', 'one'))).toBe(true);
        expect(await full.create('b', '1', HOUR, at('ann', 'two'))).toBe(true);
        const facts = { limit: 'state.maxKeys', allowed: 2, actual: 2, share: 0.25 };
        await expect(full.create('c', '1', HOUR, at('ann', 'three'))).rejects.toMatchObject({
          code: 'state_full',
          facts: { ...facts, full: 'principal' },
        });
        expect(await full.create('d', '1', HOUR, at('bob', 'one'))).toBe(true);
        await expect(full.create('e', '1', HOUR, at('cyd', 'one'))).rejects.toMatchObject({
          code: 'state_full',
          facts: { ...facts, full: 'server', server: 'one' },
        });
        expect(await full.create('e', '1', HOUR, at('cyd', 'two'))).toBe(true);
        expect(await full.create('f', '1', HOUR)).toBe(true);
      });

      it('counts a long value for as many keys as it is long', async () => {
        const { store: full } = bounded;
        await expect(full.create('long', 'x'.repeat(10_000), HOUR, ann)).rejects.toMatchObject({
          code: 'state_full',
          facts: { limit: 'state.maxKeys', allowed: 2, actual: 0 },
        });
        expect(await full.create('fits', 'x'.repeat(4000), HOUR, ann)).toBe(true);
        await expect(full.create('more', '1', HOUR, ann)).rejects.toMatchObject({ code: 'state_full' });
      });

      it('counts a key once, however many try to create it', async () => {
        const { store: full } = bounded;
        await full.create('a', '1', HOUR, ann);
        for (let n = 0; n < 5; n += 1) expect(await full.create('a', '2', HOUR, ann)).toBe(false);
        expect(await full.create('b', '1', HOUR, ann)).toBe(true);
      });

      it('has room for an owner again when its keys are over', async () => {
        const { store: full, advance: pass } = bounded;
        await full.create('a', '1', HOUR, ann);
        await full.create('b', '1', HOUR, ann);
        await pass(HOUR + 120_000);
        expect(await full.create('c', '1', HOUR, ann)).toBe(true);
        expect(await full.create('d', '1', HOUR, ann)).toBe(true);
        await expect(full.create('e', '1', HOUR, ann)).rejects.toMatchObject({ code: 'state_full' });
      });
    });

    it('says that it is there', async () => {
      await store.check();
      expect(store.name).toMatch(/^[a-z]+$/);
    });
  });
}
