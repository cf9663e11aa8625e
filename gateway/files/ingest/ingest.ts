import { createHash, type Hash } from 'node:crypto';
import type { HeldBudget } from '../../budget/held.js';
import type { PartBudget } from '../../budget/parts.js';
import { GatewayError } from '../../errors.js';
import type { ObjectStore, ObjectWriter } from '../../ports/object-store.js';
import type { Owner } from '../../ports/owner.js';
import type { CleanUps } from '../clean-ups.js';
import { newFileId, objectKey } from '../handle.js';
import type { PartBuffers } from './part-buffers.js';
import { PartLease } from './part-lease.js';
import type { Quieting, QuietWatch } from './quiet-watch.js';

/** How much of a file's beginning is kept for media type sniffing. */
const HEAD_BYTES = 4100;

/** Most bytes that one `take` call may add, so that they fit behind a full part. */
export const MAX_PIECE = 48 * 1024;

/** Bytes of a part that are kept beside part memory while no more come. A part that is fuller keeps its place. */
const MOST_ASIDE = 64 * 1024;

const NO_BYTES = Buffer.alloc(0);

export interface IngestDeps {
  objects: ObjectStore;
  budget: PartBudget;
  buffers: PartBuffers;
  /** Counts what is put aside. */
  held: HeldBudget;
  quiet: QuietWatch;
  cleanUps: CleanUps;
}

/** What is known of a file once all its bytes are stored. */
export interface Stored {
  id: string;
  key: string;
  size: number;
  /** SHA-256, base64url without padding. */
  digest: string;
  /** The first bytes, for sniffing. */
  head: Buffer;
}

/**
 * One file on its way into the object store, part by part, with one part in memory. Whoever feeds it:
 * 1. waits for `begin()` whenever bytes have come: it reserves the part's memory, which goes back while none come;
 * 2. puts bytes into `buffer` at `offset` and says how many through `take`;
 * 3. waits for `pressure` whenever it is set, which stops the source while a part is being sent;
 * 4. calls `seal()` for size and digest, then `commit()` to keep the file or `abort()` to leave no trace of it.
 */
export class Ingest implements Quieting {
  readonly #deps: IngestDeps;
  readonly #owner: Owner;
  readonly #signal: AbortSignal;
  readonly #limit: { name: string; bytes: number; path: string };
  readonly #hash: Hash = createHash('sha256');
  /** Undefined while the part's memory is given back. */
  #lease: PartLease | undefined;
  /** The lease is granted, and the buffer holds what has come of the part. */
  #isReady = false;
  /** What has come of the part, while it has no buffer. */
  #aside: Buffer = NO_BYTES;
  #hasMoved = false;
  #filled = 0;
  #size = 0;
  #head: Buffer = Buffer.alloc(0);
  #writer: ObjectWriter | undefined;
  #pressure: Promise<void> | undefined;
  #digest: string | undefined;
  #failure: unknown;
  #isOver = false;

  readonly id: string;
  readonly key: string;

  /**
   * @param owner whose share of `limits.partMemory` the part is
   * @param limit the file size limit, its config name, and where the file stands, for the error
   * @param place id and object key, where the id exists before the bytes do
   * @param lease the part's memory, where it has been reserved already
   */
  constructor(
    deps: IngestDeps,
    owner: Owner,
    limit: { name: string; bytes: number; path: string },
    signal: AbortSignal,
    place?: { id: string; key: string },
    lease?: PartLease,
  ) {
    this.#deps = deps;
    this.#owner = owner;
    this.#lease = lease;
    this.#limit = limit;
    this.#signal = signal;
    this.id = place?.id ?? newFileId();
    // nothing a peer sent is ever part of a key
    this.key = place?.key ?? objectKey(this.id);
  }

  /** Bytes taken so far. */
  get size(): number {
    return this.#size;
  }

  /** The first bytes so far, for sniffing. */
  get head(): Buffer {
    return this.#head;
  }

  /** Set while no more bytes may be taken. It never rejects: a failure shows at the next `take` or `commit`. */
  get pressure(): Promise<void> | undefined {
    return this.#pressure;
  }

  /** Where the next bytes go: `buffer[offset…]` has room for at least MAX_PIECE + 3 bytes. */
  get buffer(): Buffer {
    if (!this.#lease || !this.#isReady) throw new Error('a part buffer used before it was granted, or after its end');
    return this.#lease.buffer;
  }

  get offset(): number {
    return this.#filled;
  }

  /**
   * Reserves the part's memory unless it has it; `undefined` when that needs no waiting.
   * @throws GatewayError `part_memory_full`
   */
  begin(): Promise<void> | undefined {
    if (this.#isReady) return undefined;
    if (this.#isOver) throw new Error('a file goes on after its end');
    this.#lease ??= new PartLease(this.#deps, this.#owner, this.#signal);
    const wait = this.#lease.reserve();
    if (wait) return wait.then(() => this.#resume());
    this.#resume();
    return undefined;
  }

  hasMoved(): boolean {
    const moved = this.#hasMoved || this.#pressure !== undefined;
    this.#hasMoved = false;
    return moved;
  }

  /** Puts the little that has come of the part aside, and lets others have its memory. */
  rest(): void {
    if (!this.#isReady || this.#pressure || this.#filled > MOST_ASIDE) return;
    try {
      this.#deps.held.add(this.#filled, this.#owner);
    } catch {
      this.#deps.held.add(-this.#filled, this.#owner);
      return;
    }
    this.#aside = Buffer.from(this.buffer.subarray(0, this.#filled));
    this.#giveBack();
  }

  #resume(): void {
    if (this.#isOver) throw new Error('a file goes on after its end');
    this.#isReady = true;
    this.#hasMoved = true;
    this.#aside.copy(this.buffer);
    this.#dropAside();
    this.#deps.quiet.add(this);
  }

  #giveBack(): void {
    this.#deps.quiet.remove(this);
    this.#isReady = false;
    this.#lease?.free();
    this.#lease = undefined;
  }

  #dropAside(): void {
    this.#deps.held.add(-this.#aside.length, this.#owner);
    this.#aside = NO_BYTES;
  }

  /**
   * `bytes` more have been put at `offset`.
   * @throws GatewayError `file_too_large`, or whatever the store failed with on an earlier part
   */
  take(bytes: number): void {
    if (this.#failure) throw this.#failure;
    if (bytes === 0) return;
    const part = this.buffer;
    const fresh = part.subarray(this.#filled, this.#filled + bytes);
    if (this.#head.length < HEAD_BYTES)
      this.#head = Buffer.concat([this.#head, fresh.subarray(0, HEAD_BYTES - this.#head.length)]);
    this.#hash.update(fresh);
    this.#filled += bytes;
    this.#size += bytes;
    this.#hasMoved = true;
    if (this.#size > this.#limit.bytes) {
      throw new GatewayError('file_too_large', {
        path: this.#limit.path,
        limit: this.#limit.name,
        allowed: this.#limit.bytes,
        actual: this.#size,
      });
    }
    // A part is sent only when a byte beyond it exists, so that a file of exactly one part is one PutObject.
    if (this.#filled > this.#deps.buffers.partSize) this.#pressure ??= this.#sendPart();
  }

  async #sendPart(): Promise<void> {
    const { partSize } = this.#deps.buffers;
    const part = this.buffer;
    try {
      this.#writer ??= await this.#deps.objects.create(this.key, this.#signal);
      await this.#writer.write(part.subarray(0, partSize), false);
      part.copyWithin(0, partSize, this.#filled);
      this.#filled -= partSize;
    } catch (error) {
      this.#failure = error;
    }
    this.#pressure = undefined;
  }

  /** Ends the bytes and gives the digest; the last part is still to be sent by `commit`. */
  seal(): { size: number; digest: string } {
    this.#digest ??= this.#hash.digest('base64url');
    return { size: this.#size, digest: this.#digest };
  }

  /**
   * Sends the last part and makes the object readable. Frees the part's memory whatever happens.
   * @throws what the store failed with; what is left in it then is removed meanwhile
   */
  async commit(): Promise<Stored> {
    const { digest } = this.seal();
    this.#deps.quiet.remove(this);
    try {
      await this.#pressure;
      if (this.#failure) throw this.#failure;
      this.#writer ??= await this.#deps.objects.create(this.key, this.#signal);
      const last = this.#isReady ? this.buffer.subarray(0, this.#filled) : this.#aside;
      await this.#writer.write(last, true);
      await this.#writer.commit();
      return { id: this.id, key: this.key, size: this.#size, digest, head: this.#head };
    } catch (error) {
      this.#removeTraces();
      throw error;
    } finally {
      this.#end();
    }
  }

  /** Leaves nothing of the file in the store: what there is of it is removed from now on. */
  abort(): void {
    if (this.#isOver) return;
    if (!this.#pressure) {
      this.#removeTraces();
      this.#end();
      return;
    }
    // the part that is being sent is the buffer: it is others' only when that is over
    const sent = this.#pressure.then(() => this.#end());
    this.#removeTraces(sent);
  }

  #end(): void {
    this.#isOver = true;
    this.#dropAside();
    this.#giveBack();
  }

  #removeTraces(after?: Promise<void>): void {
    const writer = this.#writer;
    this.#writer = undefined;
    if (!writer && !after) return;
    this.#deps.cleanUps.run(this.key, async () => {
      await after;
      await (writer ?? this.#writer)?.abort();
    });
  }
}
