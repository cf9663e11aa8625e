import { describe, expect, it } from '@jest/globals';
import { Expiry } from '../../../../gateway/files/retention/expiry.js';
import { silentLog } from '../../../helpers/silent-log.js';

const RETENTION = 10_000;

function setUp() {
  /** Keys of the state store: of records, and what Wharf writes there by itself. */
  const records = new Set<string>();
  const removed: string[] = [];
  const time = { now: 0 };
  const store = { open: 0, most: 0, held: new Set<string>() };
  const state = { isDown: false, isFull: false, unread: new Set<string>() };
  const logged: [object, string][] = [];
  const up = () => {
    if (state.isDown) throw new Error('down');
  };
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
        up();
        if (state.unread.has(key)) throw new Error('unread');
        return records.has(key) ? '{}' : undefined;
      },
      create: async (key) => {
        up();
        if (state.isFull) throw new Error('full');
        records.add(key);
        return true;
      },
      extend: async (key) => {
        up();
        return records.has(key);
      },
      remove: async (key) => {
        up();
        records.delete(key);
      },
    },
    clock: { ticks: () => time.now },
    log: { ...silentLog, warn: (fields, text) => logged.push([fields, text]) },
    metrics: { count: () => {}, observe: () => {}, gauge: () => {} },
    retentionMs: RETENTION,
  });
  const add = (id: string) => {
    records.add(`file:${id}`);
    expiry.watch(id, `f/${id}`);
  };
  const expire = (...ids: string[]) => {
    for (const id of ids) records.delete(`file:${id}`);
  };
  return { records, removed, time, state, store, expiry, logged, add, expire };
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

  it('lose it within a quarter of their life after they were found in use', async () => {
    const { add, expire, removed, time, expiry } = setUp();
    add('a');
    time.now = RETENTION;
    await expiry.look();
    expire('a');
    time.now += RETENTION / 4 - 1;
    await expiry.look();
    expect(removed).toEqual([]);
    time.now += 1;
    await expiry.look();
    expect(removed).toEqual(['f/a']);
  });

  it('are watched up to a hundred thousand of them, and the rest is left to the sweep', async () => {
    const { add, expire, removed, time, expiry } = setUp();
    for (let at = 0; at < 100_000; at += 1) add(`${at}`);
    add('late');
    expire('late', '99999');
    time.now = RETENTION;
    await expiry.look();
    expect(removed).toEqual(['f/99999']);
  });

  it('stay when the state store cannot tell, and go when it can again', async () => {
    const { add, expire, removed, time, state, expiry } = setUp();
    add('a');
    add('b');
    expire('a', 'b');
    time.now = RETENTION;
    state.isDown = true;
    await expect(expiry.look()).rejects.toThrow('down');
    expect(removed).toEqual([]);
    state.isDown = false;
    await expiry.look();
    expect(removed).toEqual(['f/a', 'f/b']);
  });

  it('are removed several at the same time, since callers store many', async () => {
    const { add, expire, removed, time, expiry, store } = setUp();
    for (let n = 0; n < 20; n += 1) add(`f${n}`);
    for (let n = 0; n < 20; n += 1) expire(`f${n}`);
    time.now = RETENTION;
    await expiry.look();
    expect(store.most).toBe(8);
    expect(removed).toHaveLength(20);
  });

  it('do not keep others that cannot be removed behind them, however many they are', async () => {
    const { add, expire, removed, time, expiry, store } = setUp();
    for (let n = 0; n < 20; n += 1) {
      add(`f${n}`);
      expire(`f${n}`);
      if (n < 10) store.held.add(`f/f${n}`);
    }
    time.now = RETENTION;
    for (let looks = 0; looks < 3; looks += 1) await expect(expiry.look()).rejects.toThrow('held');
    expect(removed).toHaveLength(10);
    store.held.clear();
    await expiry.look();
    expect(removed).toHaveLength(20);
  });
});

describe('files of a state store that has lost all that was in it', () => {
  it('stay for the sweep, which waits for a backup, also once others are recorded there', async () => {
    const { add, expire, records, removed, time, expiry, logged } = setUp();
    add('a');
    await expiry.look();
    const before = [...records];
    time.now = RETENTION;
    records.clear();
    await expiry.look();
    await expiry.look();
    expect(removed).toEqual([]);
    expect(logged).toEqual([[{ files: 1 }, expect.stringContaining('stop every Wharf within 45 minutes')]]);
    for (const key of before) records.add(key);
    add('b');
    time.now = 2 * RETENTION;
    expire('b');
    await expiry.look();
    expect(removed).toEqual(['f/b']);
  });

  it('stay also if it loses them while they are looked at', async () => {
    const { add, records, removed, time, expiry, store, expire } = setUp();
    for (let n = 0; n < 20; n += 1) add(`f${n}`);
    await expiry.look();
    time.now = RETENTION;
    expire('f0');
    const looking = expiry.look();
    while (store.open === 0) await Promise.resolve();
    records.clear();
    await looking;
    expect(removed).toEqual(['f/f0']);
  });

  it('stay also if some of them could not be read before', async () => {
    const { add, records, removed, time, expiry, state, store, expire } = setUp();
    for (let n = 0; n < 20; n += 1) add(`f${n}`);
    await expiry.look();
    time.now = RETENTION;
    expire('f0');
    state.unread.add('file:f1');
    const looking = expiry.look().catch(() => undefined);
    while (store.open === 0) await Promise.resolve();
    records.clear();
    await looking;
    state.unread.clear();
    await expiry.look();
    expect(removed).toEqual(['f/f0']);
  });

  it('are noticed to be lost before any is due', async () => {
    const { add, records, expiry, logged } = setUp();
    add('a');
    await expiry.look();
    records.clear();
    await expiry.look();
    expect(logged).toHaveLength(1);
  });
});

describe('what is noted in the state store to notice a loss', () => {
  it('is gone once no file is watched, and when the process ends', async () => {
    const { add, expire, records, time, expiry } = setUp();
    add('a');
    await expiry.look();
    expect(records.size).toBe(2);
    time.now = RETENTION;
    expire('a');
    await expiry.look();
    await expiry.look();
    expect([...records]).toEqual([]);
    add('b');
    await expiry.look();
    await expiry.stop();
    expect([...records]).toEqual(['file:b']);
  });

  it('may find no room there: files lose their objects all the same', async () => {
    const { add, expire, removed, time, expiry, state, logged } = setUp();
    state.isFull = true;
    add('a');
    await expiry.look();
    time.now = RETENTION;
    expire('a');
    await expiry.look();
    expect(removed).toEqual(['f/a']);
    expect(logged).toEqual([]);
  });
});
