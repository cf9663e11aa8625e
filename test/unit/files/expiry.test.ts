import { describe, expect, it } from '@jest/globals';
import { Expiry } from '../../../gateway/files/expiry.js';
import { silentLog } from '../../helpers/silent-log.js';

const RETENTION = 10_000;

function setUp() {
  const records = new Set<string>();
  const removed: string[] = [];
  const time = { now: 0 };
  const store = { open: 0, most: 0, held: new Set<string>() };
  const state = { read: async (key: string) => (records.has(key) ? '{}' : undefined), isDown: false };
  const expiry = new Expiry({
    objects: {
      remove: async (key) => {
        store.open += 1;
        store.most = Math.max(store.most, store.open);
        await new Promise((resolve) => setImmediate(resolve));
        store.open -= 1;
        if (store.held.has(key)) throw new Error('held');
        removed.push(key);
      },
    },
    state: {
      read: async (key) => {
        if (state.isDown) throw new Error('down');
        return state.read(key);
      },
    },
    clock: { ticks: () => time.now },
    log: silentLog,
    metrics: { count: () => {}, observe: () => {}, gauge: () => {} },
    retentionMs: RETENTION,
  });
  const add = (id: string) => {
    records.add(`file:${id}`);
    expiry.watch(id, `f/${id}`);
  };
  return { records, removed, time, state, store, expiry, add };
}

describe('expired files', () => {
  it('lose their object once their record is gone', async () => {
    const { add, records, removed, time, expiry } = setUp();
    add('a');
    await expiry.look();
    time.now = RETENTION;
    records.delete('file:a');
    await expiry.look();
    await expiry.look();
    expect(removed).toEqual(['f/a']);
  });

  it('are looked at no sooner than they can have expired', async () => {
    const { add, records, removed, time, expiry } = setUp();
    add('a');
    records.delete('file:a');
    time.now = RETENTION - 1;
    await expiry.look();
    expect(removed).toEqual([]);
  });

  it('live on as long as they are used', async () => {
    const { add, records, removed, time, expiry } = setUp();
    add('a');
    for (time.now = RETENTION; time.now < 5 * RETENTION; time.now += RETENTION / 4) await expiry.look();
    expect(removed).toEqual([]);
    records.delete('file:a');
    time.now += RETENTION;
    await expiry.look();
    expect(removed).toEqual(['f/a']);
  });

  it('stay when the state store cannot tell, and go when it can again', async () => {
    const { add, records, removed, time, state, expiry } = setUp();
    add('a');
    add('b');
    records.clear();
    time.now = RETENTION;
    state.isDown = true;
    await expect(expiry.look()).rejects.toThrow('down');
    expect(removed).toEqual([]);
    state.isDown = false;
    await expiry.look();
    expect(removed).toEqual(['f/a', 'f/b']);
  });

  it('are removed several at the same time, since callers store many', async () => {
    const { add, records, removed, time, expiry, store } = setUp();
    for (let n = 0; n < 20; n += 1) add(`f${n}`);
    records.clear();
    time.now = RETENTION;
    await expiry.look();
    expect(store.most).toBe(8);
    expect(removed).toHaveLength(20);
  });

  it('do not keep others that cannot be removed behind them, however many they are', async () => {
    const { add, records, removed, time, expiry, store } = setUp();
    for (let n = 0; n < 20; n += 1) {
      add(`f${n}`);
      if (n < 10) store.held.add(`f/f${n}`);
    }
    records.clear();
    time.now = RETENTION;
    for (let looks = 0; looks < 3; looks += 1) await expect(expiry.look()).rejects.toThrow('held');
    expect(removed).toHaveLength(10);
    store.held.clear();
    await expiry.look();
    expect(removed).toHaveLength(20);
  });
});
