import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { create } from '../../../adapters/objects/memory.js';
import type { StoredObject } from '../../../gateway/files/file.js';
import { StoredObjects } from '../../../gateway/files/stored/stored-objects.js';
import type { ObjectStore } from '../../../gateway/ports/object-store.js';
import { store } from '../../contract/object-store.contract.js';
import { silentLog } from '../../helpers/silent-log.js';

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
    expect(await stored.isThere(file)).toBe(true);
    expect(reads).toBe(2);
  });

  it('with other bytes is gone, for a part of it too, is read as a whole only once, and is one warning', async () => {
    await store(objects, KEY, OTHERS);
    await expect(read(file, { start: 4, end: 8 })).rejects.toMatchObject(GONE);
    await expect(read()).rejects.toMatchObject(GONE);
    expect(await stored.isThere(file)).toBe(false);
    // the first part, all of it, and the heads of two more
    expect(reads).toBe(4);
    expect(warnings).toEqual([{ key: KEY }]);
  });

  it('with another mark and the same bytes, as in a copy of the store, is the same file', async () => {
    await store(objects, KEY, BYTES);
    expect(await stored.isThere(file)).toBe(true);
    expect(await read(file, { start: 4, end: 8 })).toBe('bytes');
    expect(await read()).toBe(String(BYTES));
    expect(reads).toBe(3);
    expect(warnings).toEqual([]);
    await store(objects, KEY, OTHERS);
    await expect(read()).rejects.toMatchObject(GONE);
  });

  it('is read once for all who wait to hear whether it is the same', async () => {
    await store(objects, KEY, BYTES);
    expect(await Promise.all(Array.from({ length: 20 }, () => stored.isThere(file)))).toEqual(Array(20).fill(true));
    expect(reads).toBe(1);
  });

  it('of another length is gone, without being read', async () => {
    await store(objects, KEY, OTHERS.subarray(1));
    await expect(read()).rejects.toMatchObject(GONE);
    expect(await stored.isThere(file)).toBe(false);
    expect(reads).toBe(1);
  });

  it('that is not there is missing', async () => {
    await objects.remove(KEY);
    expect(await read()).toBe('missing');
    expect(await stored.isThere(file)).toBe(false);
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
    expect(await stored.isThere(older)).toBe(true);
  });

  it('is given up when it changes all the time', async () => {
    const turns = [OTHERS, BYTES, OTHERS, BYTES, OTHERS, BYTES, OTHERS];
    const restless = new StoredObjects({
      log: silentLog,
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
