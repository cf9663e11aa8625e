import { createHash, type Hash } from 'node:crypto';
import type { HeldBudget } from '../../budget/held.js';
import type { PartBudget } from '../../budget/parts.js';
import { GatewayError } from '../../errors.js';
import type { ObjectStore, ObjectWriter } from '../../ports/object-store.js';
import type { Owner } from '../../ports/owner.js';
import { FileScan } from '../antivirus/file-scan.js';
import type { ScanResult, Scans } from '../antivirus/scans.js';
import type { Origins } from '../flow/origins.js';
import { newFileId, objectKey } from '../handles/handle.js';
import { SNIFF_BYTES } from '../names/media-type.js';
import type { PreviewAhead } from '../previews/ahead.js';
import type { CleanUps } from '../retention/clean-ups.js';
import { type Kept, type OpenTap, Taps } from '../tap.js';
import type { PartBuffers } from './part-buffers.js';
import { PartLease } from './part-lease.js';
import type { Quieting, QuietWatch } from './quiet-watch.js';

/** Most bytes that one `take` call may add, so that they fit behind a full part. */
export const MAX_PIECE = 48 * 1024;

/**
 * Most bytes of an unfinished part that are set aside outside part memory while no more arrive. A fuller part keeps its
 * buffer.
 */
const MOST_ASIDE = 64 * 1024;

const NO_BYTES = Buffer.alloc(0);

export interface IngestDeps {
  objects: ObjectStore;
  budget: PartBudget;
  buffers: PartBuffers;
  /** Counts the bytes set aside. */
  held: HeldBudget;
  quiet: QuietWatch;
  cleanUps: CleanUps;
  /** Who else reads every file's bytes. */
  taps: readonly OpenTap[];
  /** Absent: files are not scanned. */
  antivirus?: Scans | undefined;
  /** Absent: no rule asks where bytes come from. */
  origins?: Pick<Origins, 'note'> | undefined;
}

/** Facts about a file once all its bytes are stored. */
export interface Stored {
  id: string;
  key: string;
  size: number;
  /** SHA-256, base64url without padding. */
  digest: string;
  /** The object's, if its store tells marks. */
  mark?: string;
  /** The first bytes, for sniffing. */
  head: Buffer;
  /** Absent: it was not scanned. */
  scan?: ScanResult;
  /** The preview that was begun while its bytes came. */
  preview?: PreviewAhead | undefined;
}

/** For the file's taps alone. */
interface ToldToTaps {
  /** As `TappedFile.continued`. */
  continued?: number | undefined;
  /** As `TappedFile.expected`. */
  expected?: number | undefined;
  /** As `TappedFile.countedAt`. */
  countedAt?: number | undefined;
}

/** What is known of a file before its bytes. */
interface FileToTake extends ToldToTaps {
  /** The owner whose share of `limits.partMemory` the part takes. */
  owner: Owner;
  /** The file size limit, its config name and the file's place, for the error. */
  limit: { name: string; bytes: number; path: string };
  /** Id and object key, if the id exists before the bytes. */
  place?: { id: string; key: string };
  /** The part's memory, if it has been reserved already. */
  lease?: PartLease | undefined;
  /** Who reads the bytes of this file, beside the taps of every file. */
  taps?: readonly OpenTap[] | undefined;
}

/**
 * One file on its way into the object store, part by part, with one part in memory. Its caller:
 * 1. awaits `begin()` when bytes have arrived: this reserves the part's memory, which is released while none arrive;
 * 2. writes bytes into `buffer` at `offset` and reports their number through `take`;
 * 3. awaits `pressure` while it is set, which stops the source while a part is being sent;
 * 4. calls `seal()` for size and digest, then `commit()` to keep the file or `abort()` to remove every trace of it.
 */
export class Ingest implements Quieting {
  readonly #deps: IngestDeps;
  readonly #owner: Owner;
  readonly #signal: AbortSignal;
  readonly #limit: { name: string; bytes: number; path: string };
  readonly #hash: Hash = createHash('sha256');
  /** Undefined while the part's memory is released. */
  #lease: PartLease | undefined;
  /** True when the lease is granted and the buffer holds the part's bytes. */
  #isReady = false;
  /** The part's bytes while it has no buffer. */
  #aside: Buffer = NO_BYTES;
  #hasMoved = false;
  #filled = 0;
  #size = 0;
  #head: Buffer = Buffer.alloc(0);
  readonly #openTaps: readonly OpenTap[];
  readonly #scan: FileScan | undefined;
  #taps: Taps | undefined;
  readonly #told: ToldToTaps;
  #writer: ObjectWriter | undefined;
  #pressure: Promise<void> | undefined;
  #digest: string | undefined;
  #failure: unknown;
  #isOver = false;

  readonly id: string;
  readonly key: string;

  constructor(deps: IngestDeps, file: FileToTake, signal: AbortSignal) {
    const { owner, limit, place, lease, taps, continued, expected, countedAt } = file;
    this.#told = { continued, expected, countedAt };
    this.#deps = deps;
    this.#owner = owner;
    this.#lease = lease;
    this.#limit = limit;
    this.#openTaps = taps ? [...deps.taps, ...taps] : deps.taps;
    const digest = () => this.seal().digest;
    const scan = deps.antivirus && new FileScan(deps.antivirus, { owner, path: limit.path, signal, digest });
    if (scan) this.#openTaps = [...this.#openTaps, () => scan];
    this.#scan = scan;
    this.#signal = signal;
    this.id = place?.id ?? newFileId();
    // a key never contains anything that a peer sent
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

  /** All bytes so far, where none has left memory yet. They are valid until more are taken, or the file is stored. */
  get inMemory(): Buffer | undefined {
    const part = this.#isReady ? this.buffer.subarray(0, this.#filled) : this.#aside;
    return part.length === this.#size ? part : undefined;
  }

  /** Set while no more bytes may be taken. It never rejects: a failure shows at the next `take` or `commit`. */
  get pressure(): Promise<void> | undefined {
    return this.#pressure;
  }

  /** The next bytes go to `buffer[offset…]`, which has room for at least MAX_PIECE + 3 bytes. */
  get buffer(): Buffer {
    if (!this.#lease || !this.#isReady) throw new Error('a part buffer used before it was granted, or after its end');
    return this.#lease.buffer;
  }

  get offset(): number {
    return this.#filled;
  }

  /**
   * Reserves the part's memory unless it has it; `undefined` when there is nothing to wait for.
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

  /** Sets a small unfinished part aside and releases its buffer for others. */
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

  /** @throws GatewayError the error of the store or a tap on earlier bytes */
  expectGood(): void {
    if (this.#failure) throw this.#failure;
  }

  /**
   * Counts `bytes` that were written at `offset`.
   * @throws GatewayError `file_too_large`, or the error of the store or a tap on earlier bytes
   */
  take(bytes: number): void {
    this.expectGood();
    if (bytes === 0) return;
    const part = this.buffer;
    const fresh = part.subarray(this.#filled, this.#filled + bytes);
    if (this.#head.length < SNIFF_BYTES)
      this.#head = Buffer.concat([this.#head, fresh.subarray(0, SNIFF_BYTES - this.#head.length)]);
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
    const tapped = this.#openTaps.length > 0 ? this.#tap(fresh) : undefined;
    // A part is sent only once a byte beyond it exists, so that a file of exactly one part is one PutObject.
    if (tapped || this.#filled > this.#deps.buffers.partSize) this.#pressure ??= this.#move(tapped);
  }

  #tap(fresh: Buffer): Promise<unknown> | undefined {
    this.#taps ??= new Taps(this.#openTaps, {
      ...{ id: this.id, key: this.key, owner: this.#owner, signal: this.#signal },
      ...this.#told,
    });
    return this.#taps.take(fresh);
  }

  /** Sends a full part, and waits for `tapped` meanwhile. */
  async #move(tapped: Promise<unknown> | undefined): Promise<void> {
    const { partSize } = this.#deps.buffers;
    try {
      await allOf([this.#filled > partSize ? this.#sendPart(partSize) : undefined, tapped]);
    } catch (error) {
      this.#failure = error;
    }
    this.#pressure = undefined;
  }

  async #sendPart(partSize: number): Promise<void> {
    const part = this.buffer;
    this.#writer ??= await this.#deps.objects.create(this.key, this.#signal);
    await this.#writer.write(part.subarray(0, partSize));
    part.copyWithin(0, partSize, this.#filled);
    this.#filled -= partSize;
  }

  /** As `Tap.keep`. */
  async keep(size: number): Promise<Kept | undefined> {
    return this.#taps?.keep(size);
  }

  /** As `Tap.noted`, of what `commit` has stored. */
  async noted(): Promise<void> {
    await this.#taps?.noted();
  }

  /** What `commit` has stored is not noted anywhere: the taps take back what they have done for it. */
  undo(): void {
    this.#taps?.undo();
  }

  /** Ends the bytes and returns the digest; `commit` sends the last part. */
  seal(): { size: number; digest: string } {
    this.#digest ??= this.#hash.digest('base64url');
    return { size: this.#size, digest: this.#digest };
  }

  /**
   * Sends the last part and makes the object readable, once the taps have seen it. Releases the part's memory in every
   * case.
   * @throws the error of the store, of a tap or of the antivirus; what is left in the store is then removed in the
   * background
   */
  async commit(): Promise<Stored> {
    const stored = await this.#store();
    if (!this.#scan) return stored;
    try {
      return { ...stored, scan: await this.#scan.settle(stored) };
    } catch (error) {
      this.#taps?.undo();
      this.#deps.cleanUps.run(this.key, () => this.#deps.objects.remove(this.key));
      throw error;
    }
  }

  async #store(): Promise<Stored> {
    const { digest } = this.seal();
    this.#deps.quiet.remove(this);
    try {
      await this.#pressure;
      if (this.#failure) throw this.#failure;
      this.#writer ??= await this.#deps.objects.create(this.key, this.#signal);
      const last = this.#isReady ? this.buffer.subarray(0, this.#filled) : this.#aside;
      const isWhole = last.length === this.#size;
      await allOf([this.#writer.writeLast(last, isWhole ? digest : undefined), this.#taps?.end(digest)]);
      const mark = await this.#writer.commit();
      const bytes = { size: this.#size, digest, head: this.#head };
      return { id: this.id, key: this.key, ...bytes, ...(mark !== undefined && { mark }) };
    } catch (error) {
      this.#taps?.undo();
      this.#taps?.abort();
      this.#removeTraces();
      throw error;
    } finally {
      this.#end();
    }
  }

  /** Removes the file from the store, in the background. */
  abort(): void {
    if (this.#isOver) return;
    this.#taps?.abort();
    if (!this.#pressure) {
      this.#removeTraces();
      this.#end();
      return;
    }
    // the buffer is being sent: release it only afterwards
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

/** Waits for all of them, also when one fails: a part that is being sent keeps its buffer. */
async function allOf(waits: readonly (Promise<unknown> | undefined)[]): Promise<void> {
  const failed = (await Promise.allSettled(waits)).find((one) => one.status === 'rejected');
  if (failed) throw failed.reason;
}
