/** A slice is held by reference from this share of its memory on; a smaller one would pin bytes that nobody holds. */
const PINNED_SHARE = 4;
const FIRST_BLOCK = 256;
const LAST_BLOCK = 64 * 1024;

/** Bytes in the order they came. Small slices are gathered in blocks, so that a body fed byte by byte costs no more. */
export class ByteStore {
  #pieces: Buffer[] = [];
  /** Offset of each piece's first byte. */
  #starts: number[] = [];
  #size = 0;
  #block: Buffer | undefined;
  #used = 0;
  /** Where the last piece begins in the block, when it is one that can still grow; -1 when it is not. */
  #growing = -1;
  #nextBlock = FIRST_BLOCK;

  get size(): number {
    return this.#size;
  }

  append(chunk: Buffer, start: number, end: number): void {
    const length = end - start;
    if (length <= 0) return;
    if (length * PINNED_SHARE >= chunk.buffer.byteLength) this.#keep(chunk.subarray(start, end));
    else this.#copy(chunk, start, end);
    this.#size += length;
  }

  pieces(): readonly Buffer[] {
    return this.#pieces;
  }

  /** A view where the range lies in one piece, else a copy. */
  slice(start: number, end: number): Buffer {
    const found: Buffer[] = [];
    this.slicesInto(found, start, end);
    return found.length === 1 ? (found[0] as Buffer) : Buffer.concat(found);
  }

  /** Adds views of `[start, end)` to `target`. */
  slicesInto(target: unknown[], start: number, end: number): void {
    for (let index = this.#pieceAt(start); start < end && index < this.#pieces.length; index++) {
      const piece = this.#pieces[index] as Buffer;
      const from = start - (this.#starts[index] as number);
      const until = Math.min(piece.length, end - (this.#starts[index] as number));
      target.push(from === 0 && until === piece.length ? piece : piece.subarray(from, until));
      start += until - from;
    }
  }

  /** Lets go of everything. Views given out stay valid: a block is never written twice. */
  clear(): void {
    this.#pieces = [];
    this.#starts = [];
    this.#size = 0;
    this.#block = undefined;
    this.#used = 0;
    this.#growing = -1;
    this.#nextBlock = FIRST_BLOCK;
  }

  #keep(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#starts.push(this.#size);
    this.#growing = -1;
  }

  #copy(chunk: Buffer, start: number, end: number): void {
    const length = end - start;
    if (!this.#block || this.#used + length > this.#block.length) {
      this.#block = Buffer.allocUnsafeSlow(Math.max(this.#nextBlock, length));
      this.#used = 0;
      this.#growing = -1;
      this.#nextBlock = Math.min(this.#nextBlock * 2, LAST_BLOCK);
    }
    chunk.copy(this.#block, this.#used, start, end);
    if (this.#growing < 0) {
      this.#growing = this.#used;
      this.#pieces.push(this.#block.subarray(this.#used, this.#used + length));
      this.#starts.push(this.#size);
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
