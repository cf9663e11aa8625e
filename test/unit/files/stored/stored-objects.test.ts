import { createHash } from 'node:crypto';
import { PassThrough } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { create } from '../../../../adapters/objects/memory.js';
import type { Ledger } from '../../../../gateway/budget/ledger.js';
import type { OwnedObject, StoredObject } from '../../../../gateway/files/file.js';
import { StoredObjects } from '../../../../gateway/files/stored/stored-objects.js';
import type { ObjectStore } from '../../../../gateway/ports/object-store.js';
import { store } from '../../../contract/object-store.contract.js';
import { comparisonLedger } from '../../../helpers/budgets.js';
import { silentLog } from '../../../helpers/silent-log.js';

const NEVER = new AbortController().signal;
const BYTES = Buffer.from('the bytes that were stored');
const OTHERS = Buffer.from('other bytes, quite as many');
const GONE = { code: 'file_gone', facts: { reason: 'changed' } };
const KEY = 'f/one';

let objects: ObjectStore;
let stored: StoredObjects;
let file: StoredObject;
let reads: number;
let warnings: unknown[];

const SETTINGS = { queueMs: 1000 };

beforeEach(async () => {
  const clock = { now: () => 0, sleep: async () => {} };
  objects = create({ maxBytes: 1_000_000 }, { clock } as unknown as Parameters<typeof create>[1]);
  reads = 0;
  warnings = [];
  const counted: Pick<ObjectStore, 'get' | 'head'> = {
    head: (key) => objects.head(key),
    get: (key, options) => {
      reads += 1;
      return objects.get(key, options);
    },
  };
  stored = new StoredObjects({
    objects: counted,
    comparisons: comparisonLedger(),
    settings: SETTINGS,
    log: { ...silentLog, warn: (fields) => void warnings.push(fields) },
  });
  const mark = await store(objects, KEY, BYTES);
  const digest = createHash('sha256').update(BYTES).digest('base64url');
  file = { key: KEY, size: BYTES.length, digest, ...(mark !== undefined && { mark }) };
});

const read = async (of = file, range?: { start: number; end: number }): Promise<string> => {
  const found = await stored.read(of, NEVER, range);
  return found.kind === 'found' ? String(await buffer(found.body)) : found.kind;
};

describe('a stored object', () => {
  it('is read once, and looked at once, as long as it has the mark that it had when it was stored', async () => {
    expect(await read()).toBe(String(BYTES));
    expect(await read(file, { start: 4, end: 8 })).toBe('bytes');
    expect(await stored.isThere(file, NEVER)).toBe(true);
    expect(reads).toBe(2);
  });

  it('with other bytes is gone, for a part of it too, is read as a whole only once, and is one warning', async () => {
    await store(objects, KEY, OTHERS);
    await expect(read(file, { start: 4, end: 8 })).rejects.toMatchObject(GONE);
    await expect(read()).rejects.toMatchObject(GONE);
    expect(await stored.isThere(file, NEVER)).toBe(false);
    // the first part, all of it, and the heads of two more
    expect(reads).toBe(4);
    expect(warnings).toEqual([{ key: KEY }]);
  });

  it('with another mark and the same bytes, as in a copy of the store, is the same file', async () => {
    await store(objects, KEY, BYTES);
    expect(await stored.isThere(file, NEVER)).toBe(true);
    expect(await read(file, { start: 4, end: 8 })).toBe('bytes');
    expect(await read()).toBe(String(BYTES));
    expect(reads).toBe(3);
    expect(warnings).toEqual([]);
    await store(objects, KEY, OTHERS);
    await expect(read()).rejects.toMatchObject(GONE);
  });

  it('is read once for all who wait to hear whether it is the same', async () => {
    await store(objects, KEY, BYTES);
    expect(await Promise.all(Array.from({ length: 20 }, () => stored.isThere(file, NEVER)))).toEqual(
      Array(20).fill(true),
    );
    expect(reads).toBe(1);
  });

  it('of another length is gone, without being read', async () => {
    await store(objects, KEY, OTHERS.subarray(1));
    await expect(read()).rejects.toMatchObject(GONE);
    expect(await stored.isThere(file, NEVER)).toBe(false);
    expect(reads).toBe(1);
  });

  it('that is not there is missing', async () => {
    await objects.remove(KEY);
    expect(await read()).toBe('missing');
    expect(await stored.isThere(file, NEVER)).toBe(false);
  });

  it.each([
    ['tells no mark when it is read again', (size: number) => ({ key: KEY, modifiedAt: 0, size })],
    [
      'is of another length when it is read again',
      () => ({ key: KEY, modifiedAt: 0, size: 1_000_000_000, mark: 'third' }),
    ],
  ])('that %s leaves no body open', async (_, second) => {
    await store(objects, KEY, BYTES);
    const bodies: { destroyed: boolean }[] = [];
    const changing = new StoredObjects({
      objects: {
        head: (key) => objects.head(key),
        get: async (key, options) => {
          const found = await objects.get(key, options);
          if (found.kind !== 'found') return found;
          bodies.push(found.body);
          return bodies.length === 2 ? { ...found, stat: second(found.stat.size) } : found;
        },
      },
      log: silentLog,
      comparisons: comparisonLedger(),
      settings: SETTINGS,
    });
    const found = await changing.read(file, NEVER);
    expect(found.kind === 'found' && String(await buffer(found.body))).toBe(String(BYTES));
    expect(bodies.map(({ destroyed }) => destroyed)).not.toContain(false);
    expect(bodies.length).toBeGreaterThan(3);
  });

  it('whose mark was not kept when it was stored is taken as it is', async () => {
    const { mark: _, ...older } = file;
    await store(objects, KEY, OTHERS);
    expect(await read(older)).toBe(String(OTHERS));
    expect(await stored.isThere(older, NEVER)).toBe(true);
  });

  it('is given up when it changes all the time', async () => {
    const turns = [OTHERS, BYTES, OTHERS, BYTES, OTHERS, BYTES, OTHERS];
    const restless = new StoredObjects({
      log: silentLog,
      comparisons: comparisonLedger(),
      settings: SETTINGS,
      objects: {
        head: (key) => objects.head(key),
        get: async (key, options) => {
          await store(objects, key, turns.shift() ?? BYTES);
          return objects.get(key, options);
        },
      },
    });
    await expect(restless.read(file, NEVER)).rejects.toMatchObject(GONE);
  });
});

describe('of many copied objects', () => {
  const COPIED = { ratio: 0.5, principals: true, servers: false };
  let ledger: Ledger;
  /** The objects that are being read, by their keys: a body goes on when its test says so. */
  let open: Map<string, PassThrough>;
  let began: string[];

  /** A store in which each object has another mark than when it was stored. */
  const copied = (total: number, queueMs = 60_000): StoredObjects => {
    ledger = comparisonLedger(total, COPIED);
    const stat = (key: string) => ({ key, modifiedAt: 0, size: BYTES.length, mark: 'copied' });
    return new StoredObjects({
      log: silentLog,
      comparisons: ledger,
      settings: { queueMs },
      objects: {
        head: async (key) => stat(key),
        get: async (key) => {
          const body = new PassThrough();
          body.on('close', () => open.delete(key));
          began.push(key);
          open.set(key, body);
          return { kind: 'found', stat: stat(key), body };
        },
      },
    });
  };
  const of = (principal: string, key: string): OwnedObject => ({ ...file, key, mark: 'stored', principal });
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  const finish = async (key: string) => {
    open.get(key)?.end(BYTES);
    await turn();
    await turn();
  };

  beforeEach(() => {
    open = new Map();
    began = [];
  });

  it('so many are read at a time, and of one caller a share', async () => {
    const store = copied(4);
    const asked = ['a1', 'a2', 'a3', 'b1', 'b2', 'b3'].map((key) => store.isThere(of(key.slice(0, 1), key), NEVER));
    await turn();
    expect(began).toEqual(['a1', 'a2', 'b1', 'b2']);
    await finish('b1');
    expect(began.slice(4)).toEqual(['b3']);
    for (const key of ['a1', 'a2', 'b2', 'b3', 'a3']) await finish(key);
    expect(await Promise.all(asked)).toEqual(Array(6).fill(true));
    expect(ledger.used).toBe(0);
  });

  it('one is given up when all who have asked for it have gone, and not before; the next one takes its place', async () => {
    const store = copied(2);
    const [first, second] = [new AbortController(), new AbortController()];
    const asked = [first, second].map(({ signal }) => store.isThere(of('a', 'a1'), signal).catch((reason) => reason));
    const waits = new AbortController();
    const left = store.isThere(of('a', 'a2'), waits.signal).catch((reason) => reason);
    const next = store.isThere(of('a', 'a3'), NEVER);
    await turn();
    expect(began).toEqual(['a1']);
    waits.abort('left in the queue');
    first.abort('left');
    await turn();
    expect([...open.keys()]).toEqual(['a1']);
    second.abort('left too');
    await turn();
    await turn();
    expect(began).toEqual(['a1', 'a3']);
    expect([...open.keys()]).toEqual(['a3']);
    expect(await Promise.all([...asked, left])).toEqual(['left', 'left too', 'left in the queue']);
    await finish('a3');
    expect(await next).toBe(true);
    expect(ledger.used).toBe(0);
  });

  it('one that gets no turn in time is an error', async () => {
    const store = copied(1, 20);
    const leaves = new AbortController();
    const first = store.isThere(of('a', 'a1'), leaves.signal).catch(() => 'left');
    const facts = { limit: 'limits.comparisons', waited: 20 };
    await expect(store.isThere(of('b', 'b1'), NEVER)).rejects.toMatchObject({ code: 'comparisons_full', facts });
    leaves.abort();
    expect(await first).toBe('left');
  });

  it('none is read to know whether it is untouched', async () => {
    const store = copied(1);
    expect(await store.isUntouched(of('a', 'a1'))).toBe(false);
    expect(await store.isUntouched({ ...of('a', 'a1'), mark: 'copied' })).toBe(true);
    expect(began).toEqual([]);
  });
});
