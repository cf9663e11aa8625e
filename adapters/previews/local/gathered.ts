/** Room for most screenshots; it grows for what is larger. */
const FIRST_BYTES = 2 * 1024 * 1024;
/** A larger buffer goes back to the system after its file. */
const MOST_KEPT = 8 * 1024 * 1024;

/** The bytes of one file after the other, in one buffer that stays: fresh ones cost a page fault for each 4 KiB. */
export class Gathered {
  #buffer: Buffer = Buffer.alloc(0);
  #length = 0;

  add(piece: Buffer): void {
    const needed = this.#length + piece.length;
    if (needed > this.#buffer.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(FIRST_BYTES, needed, this.#buffer.length * 2));
      this.#buffer.copy(larger, 0, 0, this.#length);
      this.#buffer = larger;
    }
    piece.copy(this.#buffer, this.#length);
    this.#length = needed;
  }

  /** Valid until `forget`. */
  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  forget(): void {
    this.#length = 0;
    if (this.#buffer.length > MOST_KEPT) this.#buffer = Buffer.alloc(0);
  }
}
