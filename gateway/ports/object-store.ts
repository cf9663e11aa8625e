import type { Readable } from 'node:stream';
import type { Clock } from './clock.js';
import type { Log } from './log.js';

/** Facts about one object. */
export interface ObjectStat {
  key: string;
  /** Bytes. */
  size: number;
  /** Milliseconds since the Unix epoch. */
  modifiedAt: number;
  /**
   * Another one as soon as something else than Wharf has written to the object, such as an ETag, or the time of the last
   * change. Equal bytes may have another one too, in a copy of all objects for example. At most 100 characters; absent
   * where the store tells none.
   */
  mark?: string;
}

/** Both ends inclusive, in bytes, `0 ≤ start ≤ end < size`, as in HTTP's `bytes=start-end`. */
export interface ByteRange {
  start: number;
  end: number;
}

/**
 * One object being written. A half-written object is never readable: it appears whole, at `commit` or, if a store takes
 * one part in a single request, with `writeLast`. After `abort` has resolved nothing is left. Calls are made one
 * after the other.
 */
export interface ObjectWriter {
  /**
   * Stores the next part, of exactly `partSize` bytes. The caller does not change `part` until the promise resolves, so
   * one buffer serves a whole file.
   */
  write(part: Buffer): Promise<void>;
  /**
   * Stores the last part, of at most `partSize` bytes, and of none where the file ends with the part before. A store may
   * send an object of this one part in a single request. The caller does not change `part` meanwhile.
   * @param sha256 of `part`, base64url, where the caller knows it: the bytes need not be hashed again then
   */
  writeLast(part: Buffer, sha256?: string): Promise<void>;
  /**
   * Makes the object readable and durable. An empty file is one `writeLast` of no bytes. A store whose answer was
   * lost finds out what happened before this resolves or rejects.
   * @returns the object's mark, where it is known without asking for it
   */
  commit(): Promise<string | undefined>;
  /**
   * Removes everything stored so far. Safe at any time and repeatedly, also after a failed `commit`; after a successful
   * one it does nothing (`remove` is for that). Rejects when the store cannot be reached; the next sweep then removes
   * the rest.
   */
  abort(): Promise<void>;
}

/**
 * An object whose writing can stop and continue in another process. Like any other, it is not readable before it is
 * complete. Calls are made one after the other; `close` or `abort` always comes last.
 */
export interface ResumableWriter {
  /**
   * Stores the next part, of exactly `partSize` bytes. As with `ObjectWriter`, the caller does not change it meanwhile.
   */
  write(part: Buffer): Promise<void>;
  /**
   * Makes what was written durable, followed by `rest`, at most a part. Called again only after the previous place has
   * been recorded: no writer returns to a place before that one.
   * @returns the place from which `resume` continues, at most 500 characters
   */
  save(rest: Buffer): Promise<string>;
  /**
   * Stores the last part, and makes the object readable and durable.
   */
  finish(last: Buffer): Promise<FinishedWrite>;
  /** Frees the writer's resources. Saved bytes stay. */
  close(): Promise<void>;
  /**
   * Removes what this writer alone has begun, and `kept`, the place recorded last, does not need. Present where the next
   * writer cannot do so. May be called after `close`, also while another writer goes on.
   */
  removeUnsaved?(kept: string): Promise<void>;
  /** Removes everything stored, including what was saved. */
  abort(): Promise<void>;
}

/** An object that is complete. */
export interface FinishedWrite {
  /** Its bytes are this writer's; otherwise another writer, from the same place, may have been first. */
  isCertain: boolean;
  /** As from `ObjectWriter.commit`. */
  mark?: string | undefined;
}

/** A write that goes on. */
export interface ResumedWrite {
  writer: ResumableWriter;
  /** The last saved bytes that are not in a part yet: the next part, `rest` or `last` begins with them. */
  rest: AsyncIterable<Buffer>;
  /** How many those are. */
  restSize: number;
}

/** Writes that outlive their process. */
export interface ResumableWrites {
  /** Begins a write. `signal` aborts any running request. */
  begin(key: string, signal: AbortSignal): Promise<ResumableWriter>;
  /**
   * Continues from the place saved last: everything written after it is dropped.
   * @returns undefined when nothing is left of the write: it is finished, or was removed
   */
  resume(key: string, place: string, signal: AbortSignal): Promise<ResumedWrite | undefined>;
  /** Removes an abandoned write. It is not an error when nothing of it is left. */
  discard(key: string, place: string): Promise<void>;
}

/** What has been found at a key. Absence is an outcome, not an error. */
export type ObjectRead =
  | {
      kind: 'found';
      stat: ObjectStat;
      body: Readable;
      /** Takes a chunk of `body` back that is needed no more: its memory is used again. Calling it is not required. */
      release?(chunk: Buffer): void;
    }
  | { kind: 'missing' }
  | { kind: 'range-not-satisfiable'; size: number };

/** Headers of the answer to a presigned GET. Both are part of the signature. */
export interface PresignOptions {
  /** Seconds the URL lives, 1 … 604800 (the SigV4 maximum). */
  ttlSeconds: number;
  contentType: string;
  contentDisposition: string;
}

/**
 * Keeps the bytes of files. Wharf makes the keys (`[A-Za-z0-9_/-]`, at most 200 characters), never from a peer's input.
 * Failures of the store are `GatewayError`s `store_unavailable`, `store_full`, `store_timeout` or
 * `store_object_too_large`, also when a body fails halfway; outcomes such as "missing" are values. An aborted signal
 * rejects with its own reason.
 */
export interface ObjectStore {
  readonly name: string;
  /** Bytes of every part but the last. S3 requires at least 5 MiB. */
  readonly partSize: number;
  /** Begins an object. `signal` aborts any running request; the caller still calls `abort()`. */
  create(key: string, signal: AbortSignal): Promise<ObjectWriter>;
  /** Reads an object or a part of it. Destroying `body` frees the connection. */
  get(key: string, options: { range?: ByteRange; signal: AbortSignal }): Promise<ObjectRead>;
  /**
   * All bytes of a short object at once, in one step, which costs less than the stream of `get`.
   * @param size its length
   * @returns undefined when the object is missing or has another length
   */
  getWhole(key: string, size: number, signal: AbortSignal): Promise<Buffer | undefined>;
  /** Facts about an object; `undefined` when it does not exist. */
  head(key: string): Promise<ObjectStat | undefined>;
  /** Removing a missing object is not an error. */
  remove(key: string): Promise<void>;
  /** Every object below `prefix`, in any order. */
  list(prefix: string, signal?: AbortSignal): AsyncIterable<ObjectStat>;
  /**
   * The `most` smallest keys below `prefix` that are greater than `after`, in order: one page of all, which costs one
   * request where the store keeps its keys in order.
   * @param most 1 to 1000
   */
  keysAfter(prefix: string, after: string, most: number): Promise<string[]>;
  /** Present when clients can fetch from the store itself. Purely local: makes no request. */
  presign?(key: string, options: PresignOptions): Promise<string>;
  /**
   * When links that are made now end at the latest: with the credentials that sign them. Milliseconds since the epoch;
   * undefined where that is not known, or never.
   */
  presignsUntil?(): Promise<number | undefined>;
  /** Present when a write can outlive the process that began it. */
  readonly resumable?: ResumableWrites;
  /** Removes unfinished writes begun before `olderThan` (ms since the epoch); returns the number removed. */
  removeUnfinished(olderThan: number, signal?: AbortSignal): Promise<number>;
  /** Creates what is missing (bucket, folder), or throws an error that says what to do. Called once at start. */
  prepare(): Promise<void>;
  /**
   * Present where two processes can be kept apart. Takes the place of the objects for this process, until it closes the
   * store or ends. @returns the process that has it already, as far as that can be known
   */
  claim?(): Promise<{ holder: string; place: string } | undefined>;
  /** Resolves when the store answers, for readiness. */
  check(): Promise<void>;
  /**
   * Resolves when there is room for another part, and otherwise rejects with `store_full`; stored objects can be read even so.
   * Present where a store can see that without a write.
   */
  checkRoom?(): Promise<void>;
  close(): Promise<void>;
}

/** What every object store gets besides its own settings. */
export interface ObjectStoreDeps {
  /** Milliseconds. `store` bounds one step (a part, a commit, a look-up) with all its retries, and a body's silence. */
  timeouts: { store: number };
  clock: Clock;
  log: Log;
}
