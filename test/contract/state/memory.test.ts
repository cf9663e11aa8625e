import { describe, expect, it } from '@jest/globals';
import { create, settings } from '../../../adapters/state/memory.js';
import { UNSHARED } from '../../../gateway/budget/ledger.js';
import { describeStateStore } from '../state-store.contract.js';

function movable() {
  let now = Date.now();
  const clock = { now: () => now, ticks: () => now };
  const advance = async (ms: number) => {
    now += ms;
  };
  return { clock, advance };
}

describeStateStore('memory', async (bounds) => {
  const { clock, advance } = movable();
  const { sharing = UNSHARED, ...config } = bounds ?? {};
  return { store: create(settings.parse(config), { clock, sharing }), advance };
});

describe('memory state store', () => {
  it('refuses a key too many, naming the limit, until an old one has expired', async () => {
    const { clock, advance } = movable();
    const store = create(settings.parse({ maxKeys: 3 }), { clock, sharing: UNSHARED });
    await store.create('a', '1', 1000);
    await store.create('b', '1', 5000);
    await store.create('c', '1', 5000);
    await expect(store.create('d', '1', 5000)).rejects.toMatchObject({
      code: 'state_full',
      facts: { limit: 'state.maxKeys', allowed: 3, actual: 3 },
    });
    expect(await store.create('a', '2', 5000)).toBe(false);
    expect(await store.replace('b', '1', '2', 5000)).toBe(true);
    await advance(1001);
    expect(await store.create('d', '1', 5000)).toBe(true);
    await expect(store.create('e', '1', 5000)).rejects.toMatchObject({ code: 'state_full' });
    await store.close();
  });

  it('counts what a value has become, and gives that back', async () => {
    const { clock } = movable();
    const store = create(settings.parse({ maxKeys: 4 }), { clock, sharing: UNSHARED });
    await store.create('a', '1', 5000);
    await store.replace('a', '1', 'x'.repeat(8000), 5000);
    await expect(store.create('b', '1', 5000)).rejects.toMatchObject({ code: 'state_full' });
    await store.remove('a');
    for (const key of ['a', 'b', 'c', 'd']) expect(await store.create(key, '1', 5000)).toBe(true);
    await expect(store.create('e', '1', 5000)).rejects.toMatchObject({ code: 'state_full' });
    await store.close();
  });

  it('serves others between its steps when very many keys have expired', async () => {
    const { clock, advance } = movable();
    const sharing = { ratio: 0.25, principals: true, servers: true };
    const store = create(settings.parse({ maxKeys: 8000 }), { clock, sharing });
    for (const [order, principal] of ['ann', 'bob', 'cleo', 'dan'].entries()) {
      for (let index = 0; index < 2000; index++) {
        await store.create(`${principal}${index}`, '1', 1000 + order, { principal });
      }
    }
    await advance(2000);
    let turns = 0;
    let counting = setImmediate(function count() {
      turns += 1;
      counting = setImmediate(count);
    });
    // dan's have expired last, so that all the others must be forgotten before there is room for him
    expect(await store.create('dan', '1', 1000, { principal: 'dan' })).toBe(true);
    clearImmediate(counting);
    expect(turns).toBeGreaterThan(2);
    await store.close();
  });

  it('gives back to an owner what is removed or taken', async () => {
    const { clock } = movable();
    const sharing = { ratio: 0.25, principals: true, servers: true };
    const store = create(settings.parse({ maxKeys: 8 }), { clock, sharing });
    const owner = { principal: 'ann' };
    for (const key of ['a', 'b']) await store.create(key, '1', 5000, owner);
    await store.remove('a');
    await store.take('b');
    for (const key of ['c', 'd']) expect(await store.create(key, '1', 5000, owner)).toBe(true);
    await store.close();
  });
});
