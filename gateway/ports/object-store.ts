import type { Readable } from 'node:stream';
import type { Clock } from './clock.js';
import type { Log } from './log.js';

/** What a store tells about one object. */
export interface ObjectStat {
  key: string;
  /** Bytes. */
  size: number;
  /** Milliseconds since the Unix epoch. */
  modifiedAt: number;
}

/** Both ends inclusive, in bytes, `0 ≤ start ≤ end < size`, as in HTTP's `bytes=start-end`. */
export interface ByteRange {
  start: number;
  end: number;
}

/**
 * One object being written. Nothing half-written is ever readable: an object appears whole, at `commit` or, where a
 * store takes one part in a single request, with its last `write`. Nothing stays behind after `abort` has resolved.
 * Calls are made one after the other.
 */
export interface ObjectWriter {
  /**
   * Stores the next part. The caller leaves `part` untouched until the promise resolves, so one buffer serves a whole
   * file. Every part but the last holds exactly `partSize` bytes.
   * @param last true on the final part; a store may then send an object of one part in a single request
   */
  write(part: Buffer, last: boolean): Promise<void>;
  /**
   * Makes the object readable and durable. A file of no bytes is one `write` of an empty last part. A store whose
   * answer was lost finds out what happened before it resolves or rejects.
   */
  commit(): Promise<void>;
  /**
   * Removes whatever was stored so far. Safe to call at any time and again, also after a failed `commit`; after a
   * successful one it does nothing (`remove` is for that). Rejects when the store cannot be reached: what is left
   * then goes with the next sweep.
   */
  abort(): Promise<void>;
}

export type ObjectRead =
  | { kind: 'found'; stat: ObjectStat; body: Readable }
  | { kind: 'missing' }
  | { kind: 'range-not-satisfiable'; size: number };

/** How a presigned GET answers. Both are part of the signature. */
export interface PresignOptions {
  /** Seconds the URL lives, 1 … 604800 (the SigV4 maximum). */
  ttlSeconds: number;
  contentType: string;
  contentDisposition: string;
}

/**
 * Where the bytes of files are kept. Keys are made by Wharf (`[A-Za-z0-9_/-]`, at most 200 characters), never from
 * anything a peer sent. Failures of the store are `GatewayError`s `store_unavailable`, `store_full`, `store_timeout` or
 * `store_object_too_large`, also when they come out of a body half read; outcomes such as "missing" are values. A
 * signal that aborts rejects with its own reason.
 */
export interface ObjectStore {
  readonly name: string;
  /** Bytes of every part but the last. 5 MiB is the least that S3 takes. */
  readonly partSize: number;
  /** Begins an object. `signal` aborts any request under way; the caller still calls `abort()`. */
  create(key: string, signal: AbortSignal): Promise<ObjectWriter>;
  /** Reads an object or a part of it. Destroying `body` frees the connection. */
  get(key: string, options: { range?: ByteRange; signal: AbortSignal }): Promise<ObjectRead>;
  /** What is known of an object, `undefined` when there is none. */
  head(key: string): Promise<ObjectStat | undefined>;
  /** Removing what is not there is no error. */
  remove(key: string): Promise<void>;
  /** Every object below `prefix`, in any order. */
  list(prefix: string): AsyncIterable<ObjectStat>;
  /** Present when clients can fetch from the store itself. Purely local, no request is made. */
  presign?(key: string, options: PresignOptions): Promise<string>;
  /** Removes unfinished writes begun before `olderThan` (ms since the epoch); returns how many. */
  removeUnfinished(olderThan: number): Promise<number>;
  /** Creates what is missing (bucket, folder) or throws an error that says what to do. Called once at start. */
  prepare(): Promise<void>;
  /** Resolves when the store answers, for readiness. */
  check(): Promise<void>;
  close(): Promise<void>;
}

/** What every object store is given besides its own settings. */
export interface ObjectStoreDeps {
  /** Milliseconds. `store` bounds one step (a part, a commit, a look-up) with all its retries, and a body's silence. */
  timeouts: { store: number };
  clock: Clock;
  log: Log;
}
