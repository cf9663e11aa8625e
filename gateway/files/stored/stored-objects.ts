import { createHash } from 'node:crypto';
import { addAbortSignal } from 'node:stream';
import { LateCache } from '../../budget/collections/late-cache.js';
import { type Ledger, refusalFacts } from '../../budget/ledger.js';
import { WaitQueue } from '../../budget/wait-queue.js';
import { GatewayError } from '../../errors.js';
import type { Log } from '../../ports/log.js';
import type { ByteRange, ObjectRead, ObjectStat, ObjectStore } from '../../ports/object-store.js';
import type { OwnedObject, StoredObject } from '../file.js';
import { SharedWork } from '../shared-work.js';

/**
 * Most objects of which it is remembered what was found in them. One that is forgotten is read again, before its next use.
 */
const MOST_JUDGED = 10_000;

/** An object that others write to again and again is given up. */
const MOST_READS = 3;

/** Most objects that wait to be compared; each owner has a share of them. A waiting one is asked for by an open request. */
const MOST_WAITING = 1000;

/** What was found in an object that has another mark than when it was stored. */
interface Judged {
  mark: string;
  isSame: boolean;
}

type Verdict = 'same' | 'other' | 'unsure';

export interface StoredObjectsDeps {
  objects: Pick<ObjectStore, 'get' | 'head'>;
  log: Log;
  /** Counts objects that are being compared with their digest. */
  comparisons: Ledger;
  settings: {
    /** `timeouts.queue` */
    queueMs: number;
  };
}

/**
 * Stored bytes, read back. What a file's record says of its bytes is what its links promise, but others may be able to write
 * to the bucket or the folder. So each answer of the store has the mark of the object compared with the one that it had when it
 * was stored, which costs nothing. Another mark alone means little: a copy of a bucket, or a folder restored from a backup,
 * has new ones. Then the object is read once as a whole, and its digest decides. After a copy that is so of all objects, and
 * many may be asked for together: so many are read at a time, and one that is awaited by none is read no further.
 */
export class StoredObjects {
  readonly #objects: Pick<ObjectStore, 'get' | 'head'>;
  readonly #log: Log;
  readonly #judged = new LateCache<Judged>({ max: MOST_JUDGED });
  readonly #looks = new SharedWork<void>();
  readonly #queue: WaitQueue;

  constructor({ objects, log, comparisons, settings: { queueMs } }: StoredObjectsDeps) {
    this.#objects = objects;
    this.#log = log;
    this.#queue = new WaitQueue({
      ledger: comparisons,
      waitMs: queueMs,
      most: MOST_WAITING,
      full: (refusal, waited) => new GatewayError('comparisons_full', { ...refusalFacts(refusal), waited }),
    });
  }

  /**
   * Opens a file's bytes, with or without a record. Destroying the body frees the store's connection.
   * @throws GatewayError `file_gone` when they are others than were stored, `comparisons_full`, or the store's error
   */
  async read(file: OwnedObject, signal: AbortSignal, range?: ByteRange): Promise<ObjectRead> {
    for (let reads = 0; reads < MOST_READS; reads += 1) {
      const read = await this.#objects.get(file.key, range ? { range, signal } : { signal });
      if (read.kind !== 'found') return read;
      const verdict = this.#judge(file, read.stat);
      if (verdict === 'same') return read;
      read.body.destroy();
      if (verdict === 'other') throw changed(file, `has ${read.stat.size} bytes and the mark ${read.stat.mark}`);
      await this.#look(file, signal);
    }
    throw changed(file, 'changes all the time');
  }

  /**
   * Whether a file's object is there, as it was stored.
   * @throws GatewayError `comparisons_full`, or the store's error
   */
  async isThere(file: OwnedObject, signal: AbortSignal): Promise<boolean> {
    for (let looks = 0; looks < MOST_READS; looks += 1) {
      const found = await this.#objects.head(file.key);
      const verdict = found ? this.#judge(file, found) : 'other';
      if (verdict !== 'unsure') return verdict === 'same';
      await this.#look(file, signal);
    }
    return false;
  }

  /**
   * Whether a file's object is there, and known to be as it was stored without being read.
   * @throws the store's error
   */
  async isUntouched(file: StoredObject): Promise<boolean> {
    const found = await this.#objects.head(file.key);
    return found !== undefined && this.#judge(file, found) === 'same';
  }

  #judge({ key, size, digest, mark }: StoredObject, found: ObjectStat): Verdict {
    if (found.size !== size) return 'other';
    // of a file that was stored before marks were kept, or whose store tells none, nothing more is known
    if (digest === undefined || mark === undefined || found.mark === undefined || found.mark === mark) return 'same';
    const judged = this.#judged.get(key);
    if (judged?.mark !== found.mark) return 'unsure';
    return judged.isSame ? 'same' : 'other';
  }

  /** Reads an object to its end, for all that wait for it, and remembers what it is. */
  #look(file: OwnedObject, signal: AbortSignal): Promise<void> {
    const owner = { principal: file.principal, server: file.server };
    return this.#looks.run(file.key, signal, async (shared) => {
      await this.#queue.take(1, owner, shared);
      try {
        await this.#compare(file, shared);
      } finally {
        this.#queue.give(1, owner);
      }
    });
  }

  async #compare({ key, size, digest }: StoredObject, signal: AbortSignal): Promise<void> {
    const read = await this.#objects.get(key, { signal });
    if (read.kind !== 'found') return;
    const { mark } = read.stat;
    // it has changed once more, or its store tells no mark now: the next look says what it is then
    if (mark === undefined || read.stat.size !== size) {
      read.body.destroy();
      return;
    }
    const hash = createHash('sha256');
    for await (const chunk of addAbortSignal(signal, read.body) as AsyncIterable<Buffer>) {
      hash.update(chunk);
      read.release?.(chunk);
    }
    const isSame = hash.digest('base64url') === digest;
    this.#judged.set(key, { mark, isSame });
    if (isSame) this.#log.info({ key }, 'a stored file has another mark in its store, and the same bytes');
    else this.#log.warn({ key }, 'a stored file was changed outside Wharf and is no longer served');
  }
}

function changed({ key, size }: StoredObject, how: string): GatewayError {
  const cause = new Error(`The object ${key}, stored with ${size} bytes, ${how}.`);
  return new GatewayError('file_gone', { reason: 'changed' }, cause);
}
