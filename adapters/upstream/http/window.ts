import { Transform, type TransformCallback } from 'node:stream';
import type { Ledger, Refusal } from '../../../gateway/budget/ledger.js';
import type { Owner } from '../../../gateway/ports/owner.js';

/** The header's bits for windows of other sizes than 64 KiB: first one, then three, then three more. */
const IS_LONGER = 0x01;
const THREE_BITS = 0x07;

/**
 * Bytes of what it has decoded that brotli's decoder keeps, by the first byte of the coded ones (RFC 7932 §9.1): 1 KiB to
 * 16 MiB. The server chooses, and a stream may stay open for hours.
 */
export function windowOf(first: number): number {
  if ((first & IS_LONGER) === 0) return 2 ** 16;
  const long = (first >> 1) & THREE_BITS;
  if (long !== 0) return 2 ** (17 + long);
  const short = (first >> 4) & THREE_BITS;
  // 1 is a window of another format, which the decoder refuses
  return short === 0 ? 2 ** 17 : 2 ** (8 + short);
}

/** Counts the window of one answer while it is decoded: no more than has been decoded, because it grows with that. */
export class CountedWindow {
  readonly #ledger: Ledger;
  readonly #owner: Owner;
  #most = 0;
  #counted = 0;

  constructor(ledger: Ledger, owner: Owner) {
    this.#ledger = ledger;
    this.#owner = owner;
  }

  /** Sees the coded bytes on their way to the decoder. */
  seen(): Transform {
    return new Transform({
      transform: (chunk: Buffer, _encoding: BufferEncoding, callback: TransformCallback) => {
        if (this.#most === 0 && chunk.length > 0) this.#most = windowOf(chunk[0] as number);
        callback(null, chunk);
      },
    });
  }

  /** @param decoded bytes so far */
  grow(decoded: number): Refusal | undefined {
    const more = Math.min(decoded, this.#most) - this.#counted;
    const refusal = more > 0 ? this.#ledger.take(more, this.#owner) : undefined;
    if (more > 0 && !refusal) this.#counted += more;
    return refusal;
  }

  /** Nothing of it is kept from now on. */
  release(): void {
    this.#ledger.give(this.#counted, this.#owner);
    this.#counted = 0;
    this.#most = 0;
  }
}
