import { createHash, type Hash } from 'node:crypto';
import { GatewayError } from '../errors.js';
import type { Log } from '../ports/log.js';
import type { ObjectStore, ObjectWriter } from '../ports/object-store.js';
import type { PartBudget } from './budget.js';
import { newFileId, objectKey } from './handle.js';
import type { PartBuffers } from './part-buffers.js';
import { PartLease } from './part-lease.js';

/** How much of a file's beginning is kept for media type sniffing. */
const HEAD_BYTES = 4100;

/** Most bytes that one `take` call may add, so that they fit behind a full part. */
export const MAX_PIECE = 48 * 1024;

export interface IngestDeps {
  objects: ObjectStore;
  budget: PartBudget;
  buffers: PartBuffers;
  log: Log;
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
 * 1. waits for `begin()`, which reserves the part's memory;
 * 2. puts bytes into `buffer` at `offset` and says how many through `take`;
 * 3. waits for `pressure` whenever it is set, which stops the source while a part is being sent;
 * 4. calls `seal()` for size and digest, then `commit()` to keep the file or `abort()` to leave no trace of it.
 */
export class Ingest {
  readonly #deps: IngestDeps;
  readonly #signal: AbortSignal;
  readonly #limit: { name: string; bytes: number; path: string };
  readonly #hash: Hash = createHash('sha256');
  readonly #lease: PartLease;
  #filled = 0;
  #size = 0;
  #head: Buffer = Buffer.alloc(0);
  #writer: ObjectWriter | undefined;
  #pressure: Promise<void> | undefined;
  #digest: string | undefined;
  #failure: unknown;

  readonly id: string;
  readonly key: string;

  /**
   * @param limit the file size limit, its config name, and where the file stands, for the error
   * @param place id and object key, where the id exists before the bytes do
   * @param lease the part's memory, where it has been reserved already
   */
  constructor(
    deps: IngestDeps,
    limit: { name: string; bytes: number; path: string },
    signal: AbortSignal,
    place?: { id: string; key: string },
    lease?: PartLease,
  ) {
    this.#deps = deps;
    this.#lease = lease ?? new PartLease(deps, signal);
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
    return this.#lease.buffer;
  }

  get offset(): number {
    return this.#filled;
  }

  /** Reserves the part's memory; `undefined` when that needed no waiting. @throws GatewayError `part_memory_full` */
  begin(): Promise<void> | undefined {
    return this.#lease.reserve();
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

  /** Sends the last part and makes the object readable. Frees the part's memory whatever happens. */
  async commit(): Promise<Stored> {
    const { digest } = this.seal();
    try {
      await this.#pressure;
      if (this.#failure) throw this.#failure;
      this.#writer ??= await this.#deps.objects.create(this.key, this.#signal);
      await this.#writer.write(this.buffer.subarray(0, this.#filled), true);
      await this.#writer.commit();
      return { id: this.id, key: this.key, size: this.#size, digest, head: this.#head };
    } catch (error) {
      await this.#removeTraces();
      throw error;
    } finally {
      this.#lease.free();
    }
  }

  /** Leaves nothing of the file in the store. Never throws: what could not be removed is the sweeper's. */
  async abort(): Promise<void> {
    await this.#pressure;
    await this.#removeTraces();
    this.#lease.free();
  }

  async #removeTraces(): Promise<void> {
    try {
      await this.#writer?.abort();
    } catch (error) {
      this.#deps.log.warn({ key: this.key, err: error }, 'could not remove an unfinished object');
    }
    this.#writer = undefined;
  }
}
