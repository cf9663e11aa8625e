import { createHash } from 'node:crypto';
import type { Ledger } from '../../budget/ledger.js';
import { GatewayError } from '../../errors.js';
import type { ObjectStore } from '../../ports/object-store.js';
import type { FileRecord } from '../file.js';

/** A file up to this size is read at once, without a stream: what its call costs beyond one without falls by a quarter. */
export const SHORT_BYTES = 64 * 1024;

/** Milliseconds after which a file that is kept is on its way out; it is gone after twice as many. */
const TURN_MS = 30_000;

/** What an entry takes besides its bytes. */
const ENTRY_BYTES = 256;

/** The bytes of one file, and whose share they take. */
interface Kept {
  bytes: Buffer;
  principal: string;
  /** A call has found the object in the store; before, it may have gone without Wharf's doing. */
  isFound: boolean;
}

interface ShortFilesDeps {
  objects: Pick<ObjectStore, 'getWhole' | 'head'>;
  /** Counts what is kept (`limits.shortFiles`). */
  ledger: Ledger;
}

/**
 * Reads short files for calls, and keeps them for a minute, as it keeps those that were uploaded: a model that has a file
 * passes it to a tool, and tends to pass it to several, one after the other. A read of the store takes half of such a call's
 * processor time, and in a cloud some 20 ms. Objects never change, and only a caller with a living record gets this far, so
 * nothing that is kept can be wrong. The first call with an upload still looks for its object, as one that reads it does.
 */
export class ShortFiles {
  readonly #deps: ShortFilesDeps;
  /** By key of the object; those of this turn, and of the turn before. */
  #recent = new Map<string, Kept>();
  #older = new Map<string, Kept>();
  #turns: NodeJS.Timeout | undefined;

  constructor(deps: ShortFilesDeps) {
    this.#deps = deps;
  }

  /**
   * All bytes of a file up to SHORT_BYTES, which must not be changed; undefined when its object is not, or no longer, there.
   * They are compared with the recorded digest, which takes 2 to 42 µs, once for all calls of a minute: else a server would work
   * with bytes that another program, or a broken store, has put there. A longer file's digest would take a third of its call's time.
   * @throws GatewayError `file_gone` for other bytes than were stored, and the store's error
   */
  async read(file: FileRecord, signal: AbortSignal): Promise<Buffer | undefined> {
    const kept = this.kept(file);
    if (kept) return kept;
    const { key, size, principal, digest } = file;
    const bytes = await this.#deps.objects.getWhole(key, size, signal);
    if (bytes && createHash('sha256').update(bytes).digest('base64url') !== digest)
      throw new GatewayError(
        'file_gone',
        { reason: 'changed' },
        new Error(`The object ${key} has other bytes than were stored.`),
      );
    if (bytes) this.#keep({ key, principal, isFound: true }, bytes);
    return bytes;
  }

  /** All bytes of a file that is in memory, and was found in the store. They must not be changed. */
  kept({ key }: Pick<FileRecord, 'key'>): Buffer | undefined {
    const there = this.#of(key);
    return there?.isFound ? there.bytes : undefined;
  }

  /**
   * Before the first call with a file that was kept when it was uploaded: looks for its object, which on a disk takes a
   * quarter of what reading it takes. Undefined when there is nothing to wait for.
   */
  look({ key, size }: Pick<FileRecord, 'key' | 'size'>): Promise<void> | undefined {
    const there = this.#of(key);
    return there && !there.isFound ? this.#look(there, key, size) : undefined;
  }

  async #look(kept: Kept, key: string, size: number): Promise<void> {
    kept.isFound = (await this.#deps.objects.head(key))?.size === size;
  }

  /** Keeps a copy of an upload, if it is short and there is room. */
  keep({ key, principal }: Pick<FileRecord, 'key' | 'principal'>, bytes: Buffer): void {
    if (bytes.length <= SHORT_BYTES) this.#keep({ key, principal, isFound: false }, bytes);
  }

  #of(key: string): Kept | undefined {
    return this.#recent.get(key) ?? this.#older.get(key);
  }

  /** What is kept gives way to time alone, so no caller can drive out another's files. */
  #keep({ key, principal, isFound }: Omit<Kept, 'bytes'> & { key: string }, bytes: Buffer): void {
    if (this.#recent.has(key)) return;
    if (this.#deps.ledger.take(bytes.length + ENTRY_BYTES, { principal })) return;
    // a copy, because short buffers are parts of larger ones, which would be kept too
    const own = Buffer.allocUnsafeSlow(bytes.length);
    bytes.copy(own);
    this.#recent.set(key, { bytes: own, principal, isFound });
    this.#turns ??= setInterval(() => this.#turn(), TURN_MS).unref();
  }

  #turn(): void {
    for (const { bytes, principal } of this.#older.values()) {
      this.#deps.ledger.give(bytes.length + ENTRY_BYTES, { principal });
    }
    this.#older = this.#recent;
    this.#recent = new Map();
    if (this.#older.size > 0) return;
    clearInterval(this.#turns);
    this.#turns = undefined;
  }
}
