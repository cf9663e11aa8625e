import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ByteRange, ObjectStore } from '../../gateway/ports/object-store.js';
import { sha256, someBytes } from '../helpers/bytes.js';

const NEVER = new AbortController().signal;
const FAR_FUTURE = Date.now() + 365 * 24 * 3600 * 1000;

/** Writes as the ingest does: full parts, then a last one, which is empty only for a file of no bytes. @returns its mark */
export async function store(objects: ObjectStore, key: string, bytes: Buffer): Promise<string | undefined> {
  const writer = await objects.create(key, NEVER);
  let at = 0;
  for (; bytes.length - at > objects.partSize; at += objects.partSize) {
    await writer.write(bytes.subarray(at, at + objects.partSize));
  }
  await writer.writeLast(bytes.subarray(at));
  return writer.commit();
}

/** The bytes of an object or of a range of it; fails the test when there is none. */
export async function fetchBytes(objects: ObjectStore, key: string, range?: ByteRange): Promise<Buffer> {
  const read = await objects.get(key, range === undefined ? { signal: NEVER } : { range, signal: NEVER });
  if (read.kind !== 'found') throw new Error(`${key} is ${read.kind}`);
  return buffer(read.body);
}

export async function keysOf(objects: ObjectStore, prefix: string): Promise<string[]> {
  const keys: string[] = [];
  for await (const stat of objects.list(prefix)) keys.push(stat.key);
  return keys.sort();
}

/**
 * What every object store does. Time is never moved here: no promise of this port depends on the clock but
 * `removeUnfinished`, which is given its moment.
 * @param make a store with nothing in it, prepared
 */
export function describeObjectStore(name: string, make: () => Promise<ObjectStore>): void {
  describe(`object store: ${name}`, () => {
    let objects: ObjectStore;

    beforeAll(async () => {
      objects = await make();
    });
    afterAll(async () => {
      await objects.close();
    });

    describe('writing', () => {
      const sizes = (partSize: number): [string, number][] => [
        ['no bytes', 0],
        ['one byte', 1],
        ['a part less one', partSize - 1],
        ['exactly one part', partSize],
        ['a part and one', partSize + 1],
        ['three parts and a bit', 3 * partSize + 12_345],
      ];

      it.each([
        'no bytes',
        'one byte',
        'a part less one',
        'exactly one part',
        'a part and one',
        'three parts and a bit',
      ])('keeps an object of %s as it was written', async (what) => {
        const size = new Map(sizes(objects.partSize)).get(what) as number;
        const bytes = someBytes(size);
        const key = `f/size-${size}`;
        const before = Date.now();
        await store(objects, key, bytes);
        expect(sha256(await fetchBytes(objects, key))).toBe(sha256(bytes));
        const stat = await objects.head(key);
        expect(stat).toMatchObject({ key, size });
        // Stores tell seconds at least; their clock is this machine's.
        expect(Math.abs((stat?.modifiedAt ?? 0) - before)).toBeLessThan(120_000);
      });

      it('takes an empty last part after full ones', async () => {
        const bytes = someBytes(2 * objects.partSize);
        const writer = await objects.create('f/empty-tail', NEVER);
        await writer.write(bytes.subarray(0, objects.partSize));
        await writer.write(bytes.subarray(objects.partSize));
        await writer.writeLast(Buffer.alloc(0));
        await writer.commit();
        expect(sha256(await fetchBytes(objects, 'f/empty-tail'))).toBe(sha256(bytes));
      });

      it('needs the part only until write has resolved', async () => {
        const part = Buffer.alloc(objects.partSize, 1);
        const writer = await objects.create('f/reused', NEVER);
        await writer.write(part);
        part.fill(2);
        await writer.write(part);
        part.fill(3);
        await writer.writeLast(part.subarray(0, 10));
        await writer.commit();
        const bytes = await fetchBytes(objects, 'f/reused');
        expect([bytes[0], bytes[objects.partSize], bytes.at(-1)]).toEqual([1, 2, 3]);
      });

      it('shows nothing of an object that is not complete', async () => {
        const writer = await objects.create('f/growing', NEVER);
        await writer.write(Buffer.alloc(objects.partSize));
        expect(await objects.head('f/growing')).toBeUndefined();
        expect((await objects.get('f/growing', { signal: NEVER })).kind).toBe('missing');
        expect(await keysOf(objects, 'f/growing')).toEqual([]);
        await writer.writeLast(Buffer.from('end'));
        await writer.commit();
        expect((await objects.head('f/growing'))?.size).toBe(objects.partSize + 3);
      });

      it('keeps objects apart that are written at the same time', async () => {
        const files = [1, 2, 3, 4].map((n) => ({ key: `f/parallel-${n}`, bytes: someBytes(objects.partSize + n) }));
        await Promise.all(files.map(({ key, bytes }) => store(objects, key, bytes)));
        for (const { key, bytes } of files) expect(sha256(await fetchBytes(objects, key))).toBe(sha256(bytes));
      });
    });

    describe('aborting', () => {
      const expectNoTrace = async (key: string) => {
        expect(await objects.head(key)).toBeUndefined();
        expect(await keysOf(objects, key)).toEqual([]);
        expect(await objects.removeUnfinished(FAR_FUTURE)).toBe(0);
      };

      it('leaves nothing before the first write', async () => {
        const writer = await objects.create('f/aborted-0', NEVER);
        await writer.abort();
        await expectNoTrace('f/aborted-0');
      });

      it('leaves nothing after some parts, however often it is called', async () => {
        const writer = await objects.create('f/aborted-2', NEVER);
        await writer.write(Buffer.alloc(objects.partSize));
        await writer.write(Buffer.alloc(objects.partSize));
        await writer.abort();
        await writer.abort();
        await expectNoTrace('f/aborted-2');
      });

      it.each([0, 1])('leaves nothing when all is written but not committed, after %i full parts', async (full) => {
        const key = `f/aborted-last-${full}`;
        const writer = await objects.create(key, NEVER);
        if (full === 1) await writer.write(Buffer.alloc(objects.partSize));
        await writer.writeLast(Buffer.from('last'));
        await writer.abort();
        await expectNoTrace(key);
      });

      it('does nothing to an object that was committed', async () => {
        const writer = await objects.create('f/kept', NEVER);
        await writer.writeLast(Buffer.from('kept'));
        await writer.commit();
        await writer.abort();
        expect((await fetchBytes(objects, 'f/kept')).toString()).toBe('kept');
      });
    });

    describe('reading', () => {
      const bytes = someBytes(300_000);

      beforeAll(() => store(objects, 'f/ranges', bytes));

      it.each<[string, ByteRange]>([
        ['the first byte', { start: 0, end: 0 }],
        ['the last byte', { start: 299_999, end: 299_999 }],
        ['the middle', { start: 100_001, end: 250_000 }],
        ['everything', { start: 0, end: 299_999 }],
      ])('gives %s by range, and the size of the whole', async (_, range) => {
        const read = await objects.get('f/ranges', { range, signal: NEVER });
        if (read.kind !== 'found') throw new Error(read.kind);
        expect(read.stat).toMatchObject({ key: 'f/ranges', size: bytes.length });
        expect((await buffer(read.body)).equals(bytes.subarray(range.start, range.end + 1))).toBe(true);
      });

      it.each(['f/ranges', 'f/size-0'])('says how long %s is when a range begins behind its end', async (key) => {
        if (key === 'f/size-0') await store(objects, key, Buffer.alloc(0));
        const size = key === 'f/size-0' ? 0 : bytes.length;
        const read = await objects.get(key, { range: { start: size, end: size + 10 }, signal: NEVER });
        expect(read).toEqual({ kind: 'range-not-satisfiable', size });
      });

      it('says that an object is missing', async () => {
        expect(await objects.get('f/nowhere', { signal: NEVER })).toEqual({ kind: 'missing' });
        expect(await objects.head('f/nowhere')).toBeUndefined();
        expect(await objects.get('f', { signal: NEVER })).toEqual({ kind: 'missing' });
      });

      it.each([0, 1, 1000, 65_536])('gives all of a short object at once: %i bytes', async (size) => {
        const short = someBytes(size);
        await store(objects, `f/whole-${size}`, short);
        // again, when the store has seen it before
        for (let n = 0; n < 2; n += 1) {
          expect((await objects.getWhole(`f/whole-${size}`, size, NEVER))?.equals(short)).toBe(true);
        }
      });

      it('gives nothing at once of what is missing, or has another length', async () => {
        await store(objects, 'f/whole-length', Buffer.from('12345'));
        expect(await objects.getWhole('f/nowhere', 5, NEVER)).toBeUndefined();
        expect(await objects.getWhole('f', 5, NEVER)).toBeUndefined();
        for (const size of [0, 4, 6]) expect(await objects.getWhole('f/whole-length', size, NEVER)).toBeUndefined();
        await objects.remove('f/whole-length');
        expect(await objects.getWhole('f/whole-length', 5, NEVER)).toBeUndefined();
      });

      it('lets go of a body that is not read to its end', async () => {
        for (let n = 0; n < 20; n += 1) {
          const read = await objects.get('f/ranges', { signal: NEVER });
          if (read.kind !== 'found') throw new Error(read.kind);
          const closed = new Promise((resolve) => read.body.once('close', resolve));
          read.body.destroy();
          await closed;
        }
        expect((await fetchBytes(objects, 'f/ranges')).equals(bytes)).toBe(true);
      });

      it('waits for a slow reader', async () => {
        await store(objects, 'f/slow', Buffer.alloc(2 * objects.partSize, 7));
        const read = await objects.get('f/slow', { signal: NEVER });
        if (read.kind !== 'found') throw new Error(read.kind);
        let length = 0;
        for await (const chunk of read.body) {
          length += (chunk as Buffer).length;
          await new Promise((resolve) => setImmediate(resolve));
        }
        expect(length).toBe(2 * objects.partSize);
      });
    });

    describe('marks', () => {
      const marksOf = async (key: string) => {
        const reads = [undefined, { start: 1, end: 2 }].map(async (range) => {
          const read = await objects.get(key, range ? { range, signal: NEVER } : { signal: NEVER });
          if (read.kind !== 'found') throw new Error(read.kind);
          read.body.destroy();
          return read.stat.mark;
        });
        return [(await objects.head(key))?.mark, ...(await Promise.all(reads))];
      };

      it.each([
        ['in one part', () => 1000],
        ['in several', (partSize: number) => 2 * partSize + 1],
      ])('say of an object %s whether something has written to it', async (_, sizeFor) => {
        const key = `f/marked-${sizeFor(1)}`;
        const size = sizeFor(objects.partSize);
        const mark = await store(objects, key, Buffer.alloc(size, 1));
        expect(mark).toMatch(/^[^"]{1,100}$/);
        expect(await marksOf(key)).toEqual([mark, mark, mark]);
        // clocks of file systems tick in milliseconds
        await new Promise((resolve) => setTimeout(resolve, 20));
        const other = await store(objects, key, Buffer.alloc(size, 2));
        expect(other).not.toBe(mark);
        expect(await marksOf(key)).toEqual([other, other, other]);
      });
    });

    describe('signals', () => {
      const reason = new Error('the client left');

      it('refuses to begin with a signal that has aborted', async () => {
        const signal = AbortSignal.abort(reason);
        await expect(objects.create('f/never', signal)).rejects.toBe(reason);
        await expect(objects.get('f/never', { signal })).rejects.toBe(reason);
        await expect(objects.getWhole('f/never', 1, signal)).rejects.toBe(reason);
      });

      it('rejects writes and commits after its signal, and can still be aborted', async () => {
        const controller = new AbortController();
        const writer = await objects.create('f/signalled', controller.signal);
        await writer.write(Buffer.alloc(objects.partSize));
        controller.abort(reason);
        await expect(writer.writeLast(Buffer.from('x'))).rejects.toBe(reason);
        await expect(writer.commit()).rejects.toBe(reason);
        await writer.abort();
        expect(await objects.head('f/signalled')).toBeUndefined();
        expect(await objects.removeUnfinished(FAR_FUTURE)).toBe(0);
      });

      it('ends a body with its reason', async () => {
        await store(objects, 'f/long', Buffer.alloc(4 * 1024 * 1024));
        const controller = new AbortController();
        const read = await objects.get('f/long', { signal: controller.signal });
        if (read.kind !== 'found') throw new Error(read.kind);
        const ended = buffer(read.body);
        controller.abort(reason);
        await expect(ended).rejects.toBe(reason);
      });
    });

    describe('removing and listing', () => {
      it('removes an object, and does not mind when there is none', async () => {
        await store(objects, 'g/one', Buffer.from('1'));
        await objects.remove('g/one');
        await objects.remove('g/one');
        expect(await objects.head('g/one')).toBeUndefined();
        await store(objects, 'g/one', Buffer.from('again'));
        expect((await fetchBytes(objects, 'g/one')).toString()).toBe('again');
        await objects.remove('g/one');
      });

      it('lists what begins with the prefix, with sizes', async () => {
        for (const key of ['l/a', 'l/b/c', 'l/b/d', 'lx', 'm/a']) await store(objects, key, Buffer.from(key));
        expect(await keysOf(objects, 'l/')).toEqual(['l/a', 'l/b/c', 'l/b/d']);
        expect(await keysOf(objects, 'l/b')).toEqual(['l/b/c', 'l/b/d']);
        expect(await keysOf(objects, 'l/b/c')).toEqual(['l/b/c']);
        expect(await keysOf(objects, 'nothing/')).toEqual([]);
        for await (const stat of objects.list('l/')) expect(stat.size).toBe(stat.key.length);
      });

      it('gives a page of the smallest keys behind one, in order', async () => {
        const keys = ['p/B', 'p/_', 'p/a', 'p/a-1', 'p/ab', 'p/b'];
        for (const key of [...keys, 'o/z', 'q/a'].toReversed()) await store(objects, key, Buffer.from(key));
        expect(await objects.keysAfter('p/', '', 1000)).toEqual(keys);
        expect(await objects.keysAfter('p/', 'p/', 2)).toEqual(['p/B', 'p/_']);
        expect(await objects.keysAfter('p/', 'p/_', 2)).toEqual(['p/a', 'p/a-1']);
        expect(await objects.keysAfter('p/', 'p/a-~', 1)).toEqual(['p/ab']);
        expect(await objects.keysAfter('p/', 'p/b', 1)).toEqual([]);
      });
    });

    it('removes unfinished writes begun before a moment, and no others', async () => {
      const finished = Buffer.from('finished');
      await store(objects, 'u/finished', finished);
      const writer = await objects.create('u/unfinished', NEVER);
      await writer.write(Buffer.alloc(objects.partSize));
      expect(await objects.removeUnfinished(Date.now() - 3_600_000)).toBe(0);
      expect(await objects.removeUnfinished(FAR_FUTURE)).toBe(1);
      expect(await objects.removeUnfinished(FAR_FUTURE)).toBe(0);
      expect(await fetchBytes(objects, 'u/finished')).toEqual(finished);
      await expect(
        (async () => {
          await writer.writeLast(Buffer.from('late'));
          await writer.commit();
        })(),
      ).rejects.toMatchObject({ code: 'store_unavailable' });
      await writer.abort();
      expect(await objects.head('u/unfinished')).toBeUndefined();
    });

    it('can be prepared again and says that it is there', async () => {
      await objects.prepare();
      await objects.check();
      expect(objects.name).toMatch(/^[a-z0-9]+$/);
      expect(objects.partSize).toBeGreaterThan(0);
    });
  });
}
