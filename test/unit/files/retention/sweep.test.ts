import { beforeEach, describe, expect, it } from '@jest/globals';
import { create as createObjects, settings as objectSettings } from '../../../../adapters/objects/memory.js';
import { create as createState, settings as stateSettings } from '../../../../adapters/state/memory.js';
import { UNSHARED } from '../../../../gateway/budget/ledger.js';
import { GatewayError } from '../../../../gateway/errors.js';
import { newFileId, objectKey } from '../../../../gateway/files/handles/handle.js';
import {
  CONFIRM_MS,
  createSweep,
  ORPHAN_GRACE_MS,
  startSweeper,
  UNFINISHED_AGE_MS,
} from '../../../../gateway/files/retention/sweep.js';
import type { Metrics } from '../../../../gateway/ports/metrics.js';
import type { ObjectStore } from '../../../../gateway/ports/object-store.js';
import type { StateStore } from '../../../../gateway/ports/state-store.js';
import { silentLog } from '../../../helpers/silent-log.js';

const NEVER = new AbortController().signal;
const DAY = 24 * 3_600_000;

let now: number;
let objects: ObjectStore;
let state: StateStore;
let counted: Record<string, number>;
const clock = { now: () => now, ticks: () => now };
const metrics: Metrics = {
  count: (name, labels = {}, amount = 1) => {
    const series = `${name}/${labels.reason}`;
    counted[series] = (counted[series] ?? 0) + amount;
  },
  observe() {},
  gauge() {},
};

beforeEach(() => {
  now = 1_800_000_000_000;
  objects = createObjects(objectSettings.parse({}), { clock });
  state = createState(stateSettings.parse({}), { sharing: UNSHARED, clock });
  counted = {};
});

async function put(key: string): Promise<void> {
  const writer = await objects.create(key, NEVER);
  await writer.writeLast(Buffer.from(key));
  await writer.commit();
}

const record = (key: string) => {
  const about = { principal: 'ann', name: 'a.txt', mimeType: 'text/plain', size: 1, digest: 'd', createdAt: 0 };
  return JSON.stringify({ id: 'f_x', ...about, key });
};

async function keys(prefix = ''): Promise<string[]> {
  const found: string[] = [];
  for await (const { key } of objects.list(prefix)) found.push(key);
  return found.sort();
}

describe('a sweep', () => {
  let run: ReturnType<typeof createSweep>;

  beforeEach(() => {
    run = createSweep({ objects, state, clock, metrics });
  });

  it('removes an object that is older than the grace and was seen without a record before', async () => {
    await put('f/f_orphan');
    now += ORPHAN_GRACE_MS - 1;
    await run();
    now += 1;
    await run(); // seen for the first time
    now += CONFIRM_MS - 1;
    expect(await run()).toEqual({ orphans: 0, unfinished: 0 });
    expect(await keys()).toEqual(['f/f_orphan']);
    now += 1;
    expect(await run()).toEqual({ orphans: 1, unfinished: 0 });
    expect(await keys()).toEqual([]);
    expect(counted['wharf_swept_objects_total/orphan']).toBe(1);
  });

  it('keeps an object that a store calls old the moment it appears, as S3 does after a long upload', async () => {
    await put('f/f_slow');
    now += 10 * ORPHAN_GRACE_MS;
    await run();
    await state.create('file:f_slow', record('f/f_slow'), DAY);
    now += CONFIRM_MS;
    await run();
    expect(await keys()).toEqual(['f/f_slow']);
  });

  it('keeps an object as long as its record lives, however often that is extended', async () => {
    await put('f/f_living');
    await state.create('file:f_living', record('f/f_living'), DAY);
    for (let n = 0; n < 10; n += 1) {
      now += DAY - 1;
      await state.extend('file:f_living', DAY);
      await run();
      expect(await keys()).toEqual(['f/f_living']);
    }
    now += DAY;
    await run();
    now += CONFIRM_MS;
    await run();
    expect(await keys()).toEqual([]);
  });

  it('keeps, of several tries to upload one file, the object that its record points to', async () => {
    const id = newFileId();
    const [lost, won, late] = ['A', 'b', '_-'].map((attempt) => objectKey(id, attempt)) as [string, string, string];
    for (const key of [lost, won, late]) await put(key);
    await state.create(`file:${id}`, record(won), 10 * DAY);
    for (let n = 0; n < 3; n += 1) {
      now += DAY;
      await run();
    }
    expect(await keys()).toEqual([won]);
  });

  it.each(['', 'no JSON', '{}', '"f/f_odd"', '[]'])(
    'keeps an object over whose record "%s" is written, and removes others all the same',
    async (text) => {
      for (const key of ['f/f_odd', 'f/f_orphan']) await put(key);
      await state.create('file:f_odd', text, 10 * DAY);
      for (let n = 0; n < 3; n += 1) {
        now += DAY;
        await run();
      }
      expect(await keys()).toEqual(['f/f_odd']);
    },
  );

  it('reads records of many files at one time, and not of all', async () => {
    for (let n = 0; n < 100; n += 1) await put(objectKey(newFileId()));
    now += DAY;
    let open = 0;
    let most = 0;
    const slow: StateStore = {
      ...state,
      read: async (key) => {
        open += 1;
        most = Math.max(most, open);
        await new Promise((resolve) => setImmediate(resolve));
        open -= 1;
        return state.read(key);
      },
    };
    await createSweep({ objects, state: slow, clock, metrics })();
    expect(most).toBe(32);
  });

  it('keeps an object whose record comes while others are removed', async () => {
    // more than are removed at one time, listed in this order
    const ids = Array.from({ length: 9 }, newFileId).sort();
    for (const id of ids) await put(objectKey(id));
    const last = ids[8] as string;
    now += DAY;
    const slow: ObjectStore = {
      ...objects,
      remove: async (key) => {
        await state.create(`file:${last}`, record(objectKey(last)), DAY);
        return objects.remove(key);
      },
    };
    await createSweep({ objects: slow, state, clock, metrics, confirmMs: 0 })();
    expect(await keys()).toEqual([objectKey(last)]);
  });

  it('removes several objects at the same time, since callers store many', async () => {
    for (let n = 0; n < 20; n += 1) await put(objectKey(newFileId()));
    now += DAY;
    let open = 0;
    let most = 0;
    const slow: ObjectStore = {
      ...objects,
      remove: async (key) => {
        open += 1;
        most = Math.max(most, open);
        await new Promise((resolve) => setImmediate(resolve));
        open -= 1;
        return objects.remove(key);
      },
    };
    await createSweep({ objects: slow, state, clock, metrics, confirmMs: 0 })();
    expect(most).toBe(8);
    expect(await keys()).toEqual([]);
  });

  it('remembers a hundred thousand objects for the next sweep, and the rest for a later one', async () => {
    const names = Array.from({ length: 100_001 }, (_, at) => objectKey(`f_${at}`));
    const removed = new Set<string>();
    const many: ObjectStore = {
      ...objects,
      async *list() {
        for (const key of names) if (!removed.has(key)) yield { key, size: 1, modifiedAt: 0 };
      },
      remove: async (key) => {
        removed.add(key);
      },
    };
    const sweep = createSweep({ objects: many, state, clock, metrics });
    expect((await sweep()).orphans).toBe(0);
    now += CONFIRM_MS;
    expect((await sweep()).orphans).toBe(100_000);
    now += CONFIRM_MS;
    expect((await sweep()).orphans).toBe(1);
  });

  it('leaves alone what does not lie where files lie', async () => {
    await put('other/f_x');
    for (let n = 0; n < 3; n += 1) {
      now += DAY;
      await run();
    }
    expect(await keys()).toEqual(['other/f_x']);
  });

  it('removes writes that were begun a day ago, and no younger ones', async () => {
    const old = await objects.create('f/f_old', NEVER);
    await old.write(Buffer.alloc(objects.partSize));
    now += UNFINISHED_AGE_MS;
    const young = await objects.create('f/f_young', NEVER);
    await young.write(Buffer.alloc(objects.partSize));
    now += 1;
    expect(await run()).toEqual({ orphans: 0, unfinished: 1 });
    expect(counted['wharf_swept_objects_total/unfinished']).toBe(1);
    await young.writeLast(Buffer.alloc(0));
    await young.commit();
  });

  it('removes nothing while the state store cannot be read', async () => {
    let works = true;
    const read: StateStore['read'] = async (key) => {
      if (works) return state.read(key);
      throw new GatewayError('state_unavailable');
    };
    const flaky = createSweep({ objects, state: { ...state, read }, clock, metrics });
    await put('f/f_a');
    now += DAY;
    await flaky();
    works = false;
    now += DAY;
    await expect(flaky()).rejects.toMatchObject({ code: 'state_unavailable' });
    expect(await keys()).toEqual(['f/f_a']);
    works = true;
    expect(await flaky()).toMatchObject({ orphans: 1 });
  });
});

describe('a sweep of objects that only this process records', () => {
  it('removes at once what an earlier process has left, and confirms all that may be its own', async () => {
    await put('f/f_left');
    now += ORPHAN_GRACE_MS - 1;
    await put('f/f_just-left');
    now += 1;
    await put('f/f_edge');
    now += ORPHAN_GRACE_MS;
    const run = createSweep({ objects, state, clock, metrics, isAlone: true });
    await put('f/f_own');
    expect(await run()).toEqual({ orphans: 2, unfinished: 0 });
    expect(await keys()).toEqual(['f/f_edge', 'f/f_own']);
    now += ORPHAN_GRACE_MS;
    expect(await run()).toEqual({ orphans: 1, unfinished: 0 });
    expect(await keys()).toEqual(['f/f_own']);
    now += CONFIRM_MS;
    expect(await run()).toEqual({ orphans: 1, unfinished: 0 });
  });

  it('keeps what has a record, however old it is', async () => {
    await put('f/f_kept');
    now += 10 * DAY;
    await state.create('file:f_kept', record('f/f_kept'), DAY);
    expect(await createSweep({ objects, state, clock, metrics, isAlone: true })()).toMatchObject({ orphans: 0 });
  });

  it.each([
    ['a clock that was ahead at the start', -2 * DAY, 0],
    ['a machine that has slept', 0, DAY],
  ])('takes its own object for no older one: %s', async (_what, set, slept) => {
    let ticks = 0;
    const run = createSweep({ objects, state, clock: { now: () => now, ticks: () => ticks }, metrics, isAlone: true });
    now += set;
    await put('f/f_own');
    now += slept + ORPHAN_GRACE_MS;
    ticks += ORPHAN_GRACE_MS;
    expect(await run()).toEqual({ orphans: 0, unfinished: 0 });
  });
});

describe('objects that cannot be removed', () => {
  const held = (key: string) => /f_[a-j]$/.test(key);

  it('keep neither the other objects nor unfinished writes, however many they are', async () => {
    const locked: ObjectStore = {
      ...objects,
      list: (prefix) => objects.list(prefix),
      removeUnfinished: (olderThan) => objects.removeUnfinished(olderThan),
      remove: async (key) => {
        if (held(key)) throw new GatewayError('store_unavailable');
        await objects.remove(key);
      },
    };
    const sweep = createSweep({ objects: locked, state, clock, metrics, confirmMs: 0 });
    const names = [...'abcdefghijklmnopqrst'].map((letter) => `f/f_${letter}`);
    for (const name of names) await put(name);
    await (await objects.create('f/f_u', NEVER)).write(Buffer.from('begun'));
    now += 2 * DAY;
    await expect(sweep()).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(await keys()).toEqual(names.filter(held));
    expect(counted['wharf_swept_objects_total/unfinished']).toBe(1);
  });
});

describe('the sweeper', () => {
  it('sweeps again after a sweep that failed, until it is stopped', async () => {
    let reads = 0;
    const flaky: StateStore = {
      ...state,
      read: async (key) => {
        if (key.startsWith('file:')) reads += 1;
        if (reads === 1) throw new GatewayError('state_unavailable');
        return state.read(key);
      },
    };
    await put('f/f_a');
    now += DAY;
    const sweeper = startSweeper({
      objects,
      state: flaky,
      clock,
      metrics,
      log: silentLog,
      intervalMs: 5,
      confirmMs: 0,
    });
    while ((await keys()).length > 0) await new Promise((resolve) => setTimeout(resolve, 1));
    // the failed one, one that judges the object, and one before it is removed
    expect(reads).toBe(3);
    await sweeper.stop();
    await put('f/f_b');
    now += DAY;
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(await keys()).toEqual(['f/f_b']);
  });

  it('stops in the middle of a sweep, after the objects it is at', async () => {
    for (let n = 0; n < 10; n += 1) await put(`f/f_${n}`);
    now += DAY;
    let reached = () => {};
    const atFirst = new Promise<void>((resolve) => {
      reached = resolve;
    });
    let goOn = () => {};
    const gate = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const slow: ObjectStore = {
      ...objects,
      remove: async (key) => {
        reached();
        await gate;
        return objects.remove(key);
      },
    };
    const sweeper = startSweeper({ objects: slow, state, clock, metrics, log: silentLog, intervalMs: 1, confirmMs: 0 });
    await atFirst;
    const stopped = sweeper.stop();
    goOn();
    await stopped;
    expect(await keys()).toHaveLength(2);
  });
});
