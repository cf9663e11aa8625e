import { Readable } from 'node:stream';
import { z } from 'zod';
import { GatewayError } from '../../gateway/errors.js';
import type { ObjectStat, ObjectStore, ObjectStoreDeps, ObjectWriter } from '../../gateway/ports/object-store.js';
import { smallestKeys } from './common/smallest-keys.js';
import { MemoryResumable } from './memory/resumable.js';

/** For tests and trials: the objects are lost when the process ends, and other replicas cannot see them. */
export const settings = z.strictObject({
  maxBytes: z
    .number()
    .int()
    .positive()
    .default(256 * 1024 * 1024)
    .describe(
      'Bytes of all objects together. Past it a write fails with "the object store is full". Default 268435456.',
    ),
});

/** Equal to the disk's, so that both reserve the same per file. */
const PART_SIZE = 1024 * 1024;

interface StoredObject {
  bytes: Buffer;
  modifiedAt: number;
  mark: string;
}

/** An object store in the process's own memory. */
export function create(config: z.output<typeof settings>, deps: Pick<ObjectStoreDeps, 'clock'>): ObjectStore {
  const objects = new Map<string, StoredObject>();
  const unfinished = new Map<ObjectWriter, { startedAt: number; forget: () => void }>();
  /** Bytes of objects and of unfinished writes: both occupy the memory that `maxBytes` bounds. */
  let used = 0;
  /** Objects made so far. */
  let made = 0;

  const statOf = (key: string, object: StoredObject): ObjectStat => ({
    key,
    size: object.bytes.length,
    modifiedAt: object.modifiedAt,
    mark: object.mark,
  });

  const put = (key: string, bytes: Buffer): string => {
    made += 1;
    const mark = String(made);
    objects.set(key, { bytes, modifiedAt: deps.clock.now(), mark });
    return mark;
  };

  const drop = (key: string): void => {
    used -= objects.get(key)?.bytes.length ?? 0;
    objects.delete(key);
  };

  const resumable = new MemoryResumable({
    now: () => deps.clock.now(),
    take: (bytes) => {
      if (used + bytes > config.maxBytes) throw new GatewayError('store_full');
      used += bytes;
    },
    put: (key, bytes) => {
      drop(key);
      return put(key, bytes);
    },
  });

  return {
    name: 'memory',
    partSize: PART_SIZE,
    resumable,

    async create(key, signal) {
      signal.throwIfAborted();
      let parts: Buffer[] = [];
      let held = 0;
      const forget = () => {
        used -= held;
        held = 0;
        parts = [];
        unfinished.delete(writer);
      };
      const store = async (part: Buffer): Promise<void> => {
        signal.throwIfAborted();
        // Removed by removeUnfinished meanwhile. S3 behaves the same: it no longer knows the upload's id.
        if (!unfinished.has(writer)) throw new GatewayError('store_unavailable');
        if (used + part.length > config.maxBytes) throw new GatewayError('store_full');
        parts.push(Buffer.from(part));
        held += part.length;
        used += part.length;
      };
      const writer: ObjectWriter = {
        write: store,
        writeLast: store,
        async commit() {
          signal.throwIfAborted();
          if (!unfinished.has(writer)) throw new GatewayError('store_unavailable');
          const bytes = Buffer.concat(parts);
          drop(key);
          forget();
          used += bytes.length;
          return put(key, bytes);
        },
        async abort() {
          forget();
        },
      };
      unfinished.set(writer, { startedAt: deps.clock.now(), forget });
      return writer;
    },

    async get(key, { range, signal }) {
      signal.throwIfAborted();
      const object = objects.get(key);
      if (object === undefined) return { kind: 'missing' };
      const size = object.bytes.length;
      if (range !== undefined && range.start >= size) return { kind: 'range-not-satisfiable', size };
      const bytes = range === undefined ? object.bytes : object.bytes.subarray(range.start, range.end + 1);
      const body = Readable.from(slices(bytes), { objectMode: false });
      const onAbort = () => body.destroy(signal.reason);
      signal.addEventListener('abort', onAbort, { once: true });
      body.once('close', () => signal.removeEventListener('abort', onAbort));
      return { kind: 'found', stat: statOf(key, object), body };
    },

    async getWhole(key, size, signal) {
      signal.throwIfAborted();
      const bytes = objects.get(key)?.bytes;
      return bytes?.length === size ? Buffer.from(bytes) : undefined;
    },

    async head(key) {
      const object = objects.get(key);
      return object === undefined ? undefined : statOf(key, object);
    },

    async remove(key) {
      drop(key);
    },

    async *list(prefix, signal) {
      signal?.throwIfAborted();
      for (const [key, object] of [...objects]) if (key.startsWith(prefix)) yield statOf(key, object);
    },

    keysAfter: (prefix, after, most) =>
      smallestKeys(
        [...objects.keys()].filter((key) => key.startsWith(prefix)),
        after,
        most,
      ),

    async removeUnfinished(olderThan) {
      const old = [...unfinished.values()].filter((one) => one.startedAt < olderThan);
      for (const one of old) one.forget();
      return old.length + resumable.removeUnfinished(olderThan);
    },

    async prepare() {},
    async check() {},
    async close() {
      objects.clear();
      unfinished.clear();
      resumable.clear();
      used = 0;
    },
  };
}

/** Pieces of a socket's size, so that a consumer has to handle backpressure here too. */
function* slices(bytes: Buffer): Generator<Buffer> {
  const SLICE = 64 * 1024;
  for (let at = 0; at < bytes.length; at += SLICE) yield bytes.subarray(at, at + SLICE);
}
