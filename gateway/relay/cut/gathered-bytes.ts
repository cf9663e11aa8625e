import { ByteStore } from '../../wire/json/byte-store.js';

/**
 * Joins bytes that arrive in chunks. A single chunk, the usual case, is not copied. Several are copied together: a
 * chunk of one byte costs 390 bytes when kept separately, and HTTP can split anything into chunks of one byte.
 */
export class GatheredBytes {
  #only: Buffer | undefined;
  readonly #store = new ByteStore();

  get size(): number {
    return this.#only?.length ?? this.#store.size;
  }

  /** What has arrived so far. */
  get pieces(): readonly Buffer[] {
    return this.#only ? [this.#only] : this.#store.pieces();
  }

  /** Views of `[start, end)`. */
  slices(start: number, end: number): Buffer[] {
    if (this.#only) return [this.#only.subarray(start, end)];
    const views: Buffer[] = [];
    this.#store.slicesInto(views, start, end);
    return views;
  }

  add(chunk: Buffer): void {
    if (this.size === 0) {
      this.#only = chunk;
      return;
    }
    if (this.#only) this.#copy(this.#only);
    this.#only = undefined;
    this.#copy(chunk);
  }

  /** All bytes as one buffer. */
  whole(): Buffer {
    const { pieces } = this;
    return pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces);
  }

  clear(): void {
    this.#only = undefined;
    this.#store.clear();
  }

  #copy(chunk: Buffer): void {
    this.#store.append(chunk, 0, chunk.length);
    this.#store.settle();
  }
}
