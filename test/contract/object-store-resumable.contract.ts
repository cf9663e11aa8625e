import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ObjectStore, ResumableWrites, ResumedWrite } from '../../gateway/ports/object-store.js';
import { someBytes } from '../helpers/bytes.js';
import { fetchBytes, keysOf } from './object-store.contract.js';

const NEVER = new AbortController().signal;
const FAR_FUTURE = Date.now() + 365 * 24 * 3600 * 1000;

/**
 * What every object store does whose writes outlive their process.
 * @param make a store with nothing in it, prepared
 */
export function describeResumableWrites(name: string, make: () => Promise<ObjectStore>): void {
  describe(`writes that go on: ${name}`, () => {
    let objects: ObjectStore;
    let writes: ResumableWrites;
    let partSize: number;

    beforeAll(async () => {
      objects = await make();
      if (!objects.resumable) throw new Error('this store cannot go on with a write');
      writes = objects.resumable;
      ({ partSize } = objects);
    });
    afterAll(async () => {
      await objects.close();
    });

    const resume = async (key: string, place: string): Promise<ResumedWrite> => {
      const resumed = await writes.resume(key, place, NEVER);
      if (!resumed) throw new Error('nothing is left');
      return resumed;
    };

    /** As a request does: what was left, and these bytes, go on from a place; at their end it is saved again. */
    const add = async (key: string, place: string | undefined, bytes: Buffer): Promise<string> => {
      const { writer, rest } = place === undefined ? { ...(await begin(key)) } : await resume(key, place);
      let left = Buffer.concat([await readAll(rest), bytes]);
      for (; left.length > partSize; left = left.subarray(partSize)) await writer.write(left.subarray(0, partSize));
      const next = await writer.save(left);
      await writer.close();
      return next;
    };
    const begin = async (key: string) => ({ writer: await writes.begin(key, NEVER), rest: nothing() });
    const finish = async (key: string, place: string, last: Buffer) => {
      const { writer, rest } = await resume(key, place);
      await writer.finish(Buffer.concat([await readAll(rest), last]));
      await writer.close();
    };

    it('go on from every place, whatever the sizes, and show nothing before the end', async () => {
      const key = 'f/steps';
      const bytes = someBytes(3 * partSize + 4321);
      const ends = [1, 1000, partSize - 1, partSize, partSize + 1, 2 * partSize, 3 * partSize + 4000];
      let place: string | undefined;
      let at = 0;
      for (const end of ends) {
        place = await add(key, place, bytes.subarray(at, end));
        expect(place.length).toBeLessThanOrEqual(500);
        at = end;
        expect(await objects.head(key)).toBeUndefined();
        expect((await objects.get(key, { signal: NEVER })).kind).toBe('missing');
      }
      await finish(key, place as string, bytes.subarray(at));
      expect((await fetchBytes(objects, key)).equals(bytes)).toBe(true);
      expect(await keysOf(objects, key)).toEqual([key]);
      expect(await objects.removeUnfinished(FAR_FUTURE)).toBe(0);
    });

    it.each([0, 1, 2])('finish at once, after %i full parts', async (parts) => {
      const key = `f/at-once-${parts}`;
      const bytes = someBytes(parts * partSize + 10);
      const { writer } = await begin(key);
      for (let n = 0; n < parts; n += 1) await writer.write(bytes.subarray(n * partSize, (n + 1) * partSize));
      const { isCertain, mark } = await writer.finish(bytes.subarray(parts * partSize));
      await writer.close();
      expect(isCertain).toBe(true);
      expect(mark).toMatch(/./);
      expect((await objects.head(key))?.mark).toBe(mark);
      expect((await fetchBytes(objects, key)).equals(bytes)).toBe(true);
    });

    it('drop what was written behind the place, and take other bytes there', async () => {
      const key = 'f/behind';
      const bytes = someBytes(2 * partSize + 100);
      const place = await add(key, undefined, bytes.subarray(0, partSize + 50));
      const { writer, rest } = await resume(key, place);
      await writer.write(Buffer.concat([await readAll(rest), someBytes(partSize)]).subarray(0, partSize));
      await writer.close();
      await finishInParts(key, place, bytes.subarray(partSize + 50));
      expect((await fetchBytes(objects, key)).equals(bytes)).toBe(true);
    });

    const finishInParts = async (key: string, place: string, more: Buffer) => {
      const { writer, rest, restSize } = await resume(key, place);
      const before = await readAll(rest);
      expect(before.length).toBe(restSize);
      let left = Buffer.concat([before, more]);
      for (; left.length > partSize; left = left.subarray(partSize)) await writer.write(left.subarray(0, partSize));
      await writer.finish(left);
      await writer.close();
    };

    it('go on from the place before, where the last one was never noted', async () => {
      const key = 'f/not-noted';
      const bytes = someBytes(partSize + 300);
      const first = await add(key, undefined, bytes.subarray(0, 100));
      await add(key, first, bytes.subarray(100, 200));
      await finishInParts(key, first, bytes.subarray(100));
      expect((await fetchBytes(objects, key)).equals(bytes)).toBe(true);
    });

    it.each([
      ['not saved', false],
      ['saved, but never noted', true],
    ])('leave nothing of what was %s once they are finished', async (_, isSaved) => {
      const key = `f/unsaved-${isSaved}`;
      const bytes = someBytes(partSize + 300);
      const place = await add(key, undefined, bytes.subarray(0, 100));
      const { writer } = await resume(key, place);
      await writer.write(someBytes(partSize));
      if (isSaved) await writer.save(someBytes(10));
      await writer.close();
      await writer.removeUnsaved?.(place);
      await finishInParts(key, place, bytes.subarray(100));
      expect((await fetchBytes(objects, key)).equals(bytes)).toBe(true);
      expect(await keysOf(objects, key)).toEqual([key]);
      expect(await objects.removeUnfinished(FAR_FUTURE)).toBe(0);
    });

    it('leave nothing when they are discarded, however often', async () => {
      const key = 'f/discarded';
      const first = await add(key, undefined, someBytes(partSize + 100));
      const place = await add(key, first, someBytes(100));
      await writes.discard(key, place);
      await writes.discard(key, place);
      expect(await writes.resume(key, place, NEVER)).toBeUndefined();
      expect(await keysOf(objects, key)).toEqual([]);
      expect(await objects.removeUnfinished(FAR_FUTURE)).toBe(0);
    });

    it('leave nothing when they are aborted', async () => {
      const { writer } = await begin('f/aborted-write');
      await writer.write(someBytes(partSize));
      await writer.save(someBytes(10));
      await writer.abort();
      expect(await keysOf(objects, 'f/aborted-write')).toEqual([]);
      expect(await objects.removeUnfinished(FAR_FUTURE)).toBe(0);
    });

    it('have no place once they are finished, or removed as unfinished', async () => {
      const finished = await add('f/finished', undefined, someBytes(partSize + 1));
      await finish('f/finished', finished, Buffer.from('end'));
      expect(await writes.resume('f/finished', finished, NEVER)).toBeUndefined();
      expect((await objects.head('f/finished'))?.size).toBe(partSize + 4);
      const removed = await add('f/removed', undefined, someBytes(partSize + 1));
      expect(await objects.removeUnfinished(FAR_FUTURE)).toBe(1);
      expect(await writes.resume('f/removed', removed, NEVER)).toBeUndefined();
    });

    it('refuse to begin or go on with a signal that has aborted', async () => {
      const reason = new Error('the client left');
      const place = await add('f/signal', undefined, someBytes(10));
      await expect(writes.begin('f/signal-2', AbortSignal.abort(reason))).rejects.toBe(reason);
      await expect(writes.resume('f/signal', place, AbortSignal.abort(reason))).rejects.toBe(reason);
      await writes.discard('f/signal', place);
    });
  });
}

const readAll = (rest: AsyncIterable<Buffer>): Promise<Buffer> => buffer(rest);

async function* nothing(): AsyncGenerator<Buffer> {}
