/**
 * A run is held by reference if its memory block is at most this many times as long; a shorter one would pin bytes that are
 * not needed.
 */
const MOST_PINNED_PER_KEPT = 4;
/** A run is held by reference only from this many bytes on: a piece itself costs some 200 bytes. */
const MIN_KEPT = 4096;
const FIRST_BLOCK = 256;
const LAST_BLOCK = 64 * 1024;
const NO_BYTES = Buffer.alloc(0);

/**
 * Stores bytes in order of arrival. Adjacent slices of a chunk form one run, which is settled when the next one begins:
 * a long run is kept by reference, short ones are copied together into blocks, so a body fed byte by byte costs no
 * more.
 */
export class ByteStore {
  /** Bytes held. */
  size = 0;

  #pieces: Buffer[] = [];
  /** Offset of each piece's first byte. */
  #starts: number[] = [];
  #block: Buffer = NO_BYTES;
  #used = 0;
  /** Where the last piece begins in the block while it can still grow; otherwise -1. */
  #growing = -1;
  #nextBlock = FIRST_BLOCK;

  /** The unsettled run: `[start, end)` of the chunk. */
  #chunk: Buffer = NO_BYTES;
  #start = 0;
  #end = 0;

  append(chunk: Buffer, start: number, end: number): void {
    if (chunk !== this.#chunk || start !== this.#end) {
      this.settle();
      this.#chunk = chunk;
      this.#start = start;
    }
    this.#end = end;
    this.size += end - start;
  }

  /** Ends the use of this chunk: releases it, unless most of it is held. */
  settle(): void {
    const chunk = this.#chunk;
    const start = this.#start;
    const end = this.#end;
    this.#chunk = NO_BYTES;
    this.#start = 0;
    this.#end = 0;
    const length = end - start;
    if (length === 0) return;
    if (length >= MIN_KEPT && length * MOST_PINNED_PER_KEPT >= chunk.buffer.byteLength)
      this.#keep(chunk.subarray(start, end));
    else this.#copy(chunk, start, end);
  }

  /** The last byte, without settling the run that it ends. */
  get last(): number | undefined {
    return this.#end > this.#start ? this.#chunk[this.#end - 1] : this.#pieces.at(-1)?.at(-1);
  }

  pieces(): readonly Buffer[] {
    this.settle();
    return this.#pieces;
  }

  /** Returns a view when the range lies in one piece, otherwise a copy. */
  slice(start: number, end: number): Buffer {
    const found: Buffer[] = [];
    this.slicesInto(found, start, end);
    return found.length === 1 ? (found[0] as Buffer) : Buffer.concat(found);
  }

  /** Adds views of `[start, end)` to `target`. */
  slicesInto(target: unknown[], start: number, end: number): void {
    this.settle();
    let at = start;
    for (let index = this.#pieceAt(start); at < end && index < this.#pieces.length; index++) {
      const piece = this.#pieces[index] as Buffer;
      const from = at - (this.#starts[index] as number);
      const until = Math.min(piece.length, end - (this.#starts[index] as number));
      target.push(from === 0 && until === piece.length ? piece : piece.subarray(from, until));
      at += until - from;
    }
  }

  /** Overwrites `[start, end)` with one byte, also in views given out before. */
  fill(byte: number, start: number, end: number): void {
    const views: Buffer[] = [];
    this.slicesInto(views, start, end);
    for (const view of views) view.fill(byte);
  }

  /** Releases everything. Views given out stay valid, because a written part of a block is never written again. */
  clear(): void {
    this.#pieces = [];
    this.#starts = [];
    this.size = 0;
    this.#block = NO_BYTES;
    this.#used = 0;
    this.#growing = -1;
    this.#nextBlock = FIRST_BLOCK;
    this.#chunk = NO_BYTES;
    this.#start = 0;
    this.#end = 0;
  }

  /** Offset of the unsettled run, which is the end of the settled pieces. */
  get #settledSize(): number {
    const last = this.#pieces.length - 1;
    return last < 0 ? 0 : (this.#starts[last] as number) + (this.#pieces[last] as Buffer).length;
  }

  #keep(piece: Buffer): void {
    this.#starts.push(this.#settledSize);
    this.#pieces.push(piece);
    this.#growing = -1;
  }

  #copy(chunk: Buffer, start: number, end: number): void {
    const length = end - start;
    if (this.#used + length > this.#block.length) {
      this.#block = Buffer.allocUnsafeSlow(Math.max(this.#nextBlock, length));
      this.#used = 0;
      this.#growing = -1;
      this.#nextBlock = Math.min(this.#nextBlock * 2, LAST_BLOCK);
    }
    chunk.copy(this.#block, this.#used, start, end);
    if (this.#growing < 0) {
      this.#growing = this.#used;
      this.#starts.push(this.#settledSize);
      this.#pieces.push(this.#block.subarray(this.#used, this.#used + length));
    } else {
      this.#pieces[this.#pieces.length - 1] = this.#block.subarray(this.#growing, this.#used + length);
    }
    this.#used += length;
  }

  /** Index of the piece that holds the byte at `offset`. */
  #pieceAt(offset: number): number {
    let low = 0;
    let high = this.#starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#starts[middle] as number) <= offset) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}
