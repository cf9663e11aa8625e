/** Bytes encoded in one go. A string of 128 KiB or more goes to V8's large-object space and is 8 times as slow. */
const SLICE = 72 * 1024;
const GROUP = 3;

/** Length of the base64 text of `bytes` bytes, padding included. */
export function encodedLength(bytes: number): number {
  return Math.ceil(bytes / GROUP) * 4;
}

/** Length of the base64url text of `bytes` bytes, without padding. */
export function encodedUrlLength(bytes: number): number {
  return Math.ceil((bytes * 4) / GROUP);
}

const allocate = (length: number): Buffer => Buffer.allocUnsafe(length);

/** Encodes bytes, in pieces of any size, as base64 without line breaks: standard with padding, or url-safe without. */
export class Base64Encoder {
  readonly #alphabet: 'base64' | 'base64url';
  readonly #take: (length: number) => Buffer;
  /** Bytes of an incomplete group. */
  #carry: Buffer = Buffer.alloc(0);

  /** @param take gives memory for a piece of text */
  constructor(alphabet: 'base64' | 'base64url' = 'base64', take: (length: number) => Buffer = allocate) {
    this.#alphabet = alphabet;
    this.#take = take;
  }

  /** @returns the text of every whole group of three bytes so far; an incomplete group waits for the next chunk */
  push(chunk: Buffer): Buffer {
    let start = 0;
    let head: Buffer | undefined;
    if (this.#carry.length > 0) {
      start = Math.min(GROUP - this.#carry.length, chunk.length);
      head = Buffer.concat([this.#carry, chunk.subarray(0, start)]);
      this.#carry = head;
      if (head.length < GROUP) return Buffer.alloc(0);
    }
    const end = chunk.length - ((chunk.length - start) % GROUP);
    // a copy: the caller may reuse the chunk after this
    this.#carry = Buffer.from(chunk.subarray(end));
    const out = this.#take(encodedLength(end - start) + (head ? 4 : 0));
    let at = head ? out.write(head.toString(this.#alphabet, 0, GROUP), 0, 'latin1') : 0;
    for (let from = start; from < end; from += SLICE) {
      at += out.write(chunk.toString(this.#alphabet, from, Math.min(end, from + SLICE)), at, 'latin1');
    }
    return out;
  }

  /** Returns the last group, padded in the standard alphabet. The encoder can be used again. */
  finish(): Buffer {
    const rest = Buffer.from(this.#carry.toString(this.#alphabet), 'latin1');
    this.#carry = Buffer.alloc(0);
    return rest;
  }
}
