import { Readable } from 'node:stream';
import type { Ledger } from '../../budget/ledger.js';
import type { BufferPool } from '../../budget/memory/buffer-pool.js';
import type { Preview } from '../../ports/dialect.js';
import type { Owner } from '../../ports/owner.js';
import { SNIFF_BYTES, sniff } from '../names/media-type.js';
import type { Tap } from '../tap.js';
import type { MadePreviews } from './made-previews.js';
import { type PreviewJob, previewOf } from './preview.js';

/** What is kept is counted in blocks, so that a server that sends byte by byte makes no more of them. */
export const BLOCK_BYTES = 64 * 1024;

export interface AheadDeps extends Pick<PreviewJob, 'previewer' | 'log' | 'metrics'> {
  /** Counts the bytes kept for previews (`limits.previewMemory`). */
  ledger: Ledger;
  /** Their memory, in blocks of BLOCK_BYTES. Fresh blocks were a third of what pictures of 1 to 5 MB cost the gateway. */
  blocks: BufferPool;
  /** Those of files that came before. */
  earlier: MadePreviews;
}

/**
 * The preview of one file on its way into the store: its bytes are kept as they come, and given to the previewer once they
 * are complete, so that the preview is made while the store still writes, and the object is not read back. It gives up
 * where it cannot help: a file that is read in parts, or is too large, or finds no memory.
 */
export class PreviewAhead implements Tap {
  readonly #deps: AheadDeps;
  readonly #owner: Owner;
  readonly #signal: AbortSignal;
  readonly #stop = new AbortController();
  #blocks: Buffer[] = [];
  /** How many blocks are counted: these, and those that the previewer has and has not released. */
  #counted = 0;
  /** Bytes in the last block. */
  #filled = BLOCK_BYTES;
  #size = 0;
  #type: Promise<string | undefined> | undefined;
  #isOver = false;
  #made: Promise<{ preview: Preview | undefined } | undefined> = Promise.resolve(undefined);

  /** @param owner the owner whose share of `limits.previewMemory` it takes */
  constructor(deps: AheadDeps, owner: Owner, signal: AbortSignal) {
    this.#deps = deps;
    this.#owner = owner;
    this.#signal = signal;
  }

  /**
   * What was made of a file that has been taken to its end; undefined when it gave up. Then the stored object has to be
   * read. Never rejects.
   */
  get made(): Promise<{ preview: Preview | undefined } | undefined> {
    return this.#made;
  }

  take(bytes: Buffer): undefined {
    this.#size += bytes.length;
    for (let at = 0; at < bytes.length && !this.#isOver; ) {
      if (this.#filled === BLOCK_BYTES && !this.#addBlock()) return;
      const copied = bytes.copy(this.#blocks.at(-1) as Buffer, this.#filled, at);
      this.#filled += copied;
      at += copied;
    }
    if (!this.#isOver && this.#size >= SNIFF_BYTES) this.#type ??= this.#look();
  }

  async end(digest: string): Promise<void> {
    const { earlier, metrics } = this.#deps;
    const preview = earlier.find(this.#owner, digest);
    if (preview) {
      metrics.count('wharf_previews_total', { outcome: 'kept' });
      this.#made = Promise.resolve({ preview });
      this.#giveUp();
    } else if (!this.#isOver) this.#made = this.#make(digest);
  }

  abort(): void {
    this.#stop.abort();
    this.#giveUp();
  }

  #addBlock(): boolean {
    if (this.#deps.ledger.take(BLOCK_BYTES, this.#owner)) {
      this.#giveUp();
      return false;
    }
    this.#counted += 1;
    this.#blocks.push(this.#deps.blocks.take());
    this.#filled = 0;
    return true;
  }

  /** @returns the type of a file that the previewer reads as a whole */
  async #look(): Promise<string | undefined> {
    const type = (await sniff((this.#blocks[0] ?? Buffer.alloc(0)).subarray(0, this.#size)))?.mime;
    if (type !== undefined && this.#size <= this.#deps.previewer.wholeUpTo(type)) return type;
    this.#giveUp();
    return undefined;
  }

  async #make(digest: string): Promise<{ preview: Preview | undefined } | undefined> {
    const mimeType = await (this.#type ?? this.#look());
    const { previewer, log, metrics } = this.#deps;
    if (mimeType === undefined || this.#isOver || this.#size > previewer.wholeUpTo(mimeType)) {
      this.#giveUp();
      return undefined;
    }
    const preview = await previewOf({
      sniffedMime: mimeType,
      record: { mimeType, size: this.#size },
      open: async () => Readable.from(this.#pieces(), { highWaterMark: 1 }),
      release: (piece) => this.#release(piece),
      previewer,
      owner: this.#owner,
      signal: AbortSignal.any([this.#signal, this.#stop.signal]),
      log,
      metrics,
    });
    this.#giveUp();
    if (preview) this.#deps.earlier.keep(this.#owner, digest, preview);
    return { preview };
  }

  *#pieces(): Generator<Buffer> {
    for (let block = this.#blocks.shift(); block; block = this.#blocks.shift()) {
      yield this.#blocks.length === 0 ? block.subarray(0, this.#filled) : block;
    }
  }

  /** @param piece one of `#pieces` */
  #release({ buffer }: Buffer): void {
    // given up meanwhile: it is counted no more, and the collector takes it
    if (this.#counted === 0) return;
    this.#counted -= 1;
    this.#deps.ledger.give(BLOCK_BYTES, this.#owner);
    this.#deps.blocks.giveBack(Buffer.from(buffer as ArrayBuffer));
  }

  #giveUp(): void {
    this.#isOver = true;
    for (const block of this.#blocks) this.#deps.blocks.giveBack(block);
    this.#blocks = [];
    this.#deps.ledger.give(this.#counted * BLOCK_BYTES, this.#owner);
    this.#counted = 0;
  }
}
