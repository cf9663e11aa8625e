import type { Base64Decoder } from '../../wire/base64/decode.js';
import { ByteStore } from '../../wire/json/byte-store.js';

/** A quad that is not canonical can begin at most three characters before the current piece. */
const QUAD_TAIL = 4;

const NOTHING = Buffer.alloc(0);

/**
 * The spelling of a string that has left memory, from the first byte on that encoding its file again would not
 * reproduce: escapes, line breaks, the url-safe alphabet, missing padding, or no base64 at all. Bounded by
 * `limits.spool`.
 */
export class Spelling {
  readonly #limit: (kept: number) => number;
  readonly #account: (delta: number) => void;
  readonly #kept = new ByteStore();
  #tail: Buffer = NOTHING;
  #bytes = 0;
  #lost = false;

  /** @param limit most raw bytes now that it has kept so many */
  constructor(limit: (kept: number) => number, account: (delta: number) => void) {
    this.#limit = limit;
    this.#account = account;
  }

  /** Raw bytes since the canonical beginning ended, kept or not. */
  get bytes(): number {
    return this.#bytes;
  }

  /** True when it is longer than allowed: the string can no longer be written as it came. */
  get lost(): boolean {
    return this.#lost;
  }

  get pieces(): readonly Buffer[] {
    return this.#kept.pieces();
  }

  /** Records a piece that the decoder has just read. @param before `decoder.chars` before that */
  follow(decoder: Base64Decoder, piece: Buffer, before: number): void {
    if (decoder.canonical) {
      this.#tail = Buffer.concat([this.#tail, piece.subarray(-QUAD_TAIL)]).subarray(-QUAD_TAIL);
      return;
    }
    this.leaveCanonical(decoder, before);
    this.push(piece.subarray(Math.max(0, decoder.canonicalChars - before)));
  }

  /** The last `length` canonical bytes, at most a quad. */
  tail(length: number): Buffer {
    return length === 0 ? NOTHING : this.#tail.subarray(-length);
  }

  /** Ends the canonical beginning; its last, incomplete quad belongs to the spelling. */
  leaveCanonical(decoder: Base64Decoder, before: number): void {
    const missing = before - decoder.canonicalChars;
    if (this.#bytes === 0 && missing > 0) this.push(this.tail(missing));
    this.#tail = NOTHING;
  }

  push(piece: Buffer): void {
    if (piece.length === 0) return;
    const kept = this.#bytes;
    this.#bytes += piece.length;
    // what is lost stays lost, though there may be room again
    this.#lost ||= this.#bytes > this.#limit(kept);
    if (this.#lost) {
      this.clear();
      return;
    }
    this.#kept.append(piece, 0, piece.length);
    this.#account(piece.length);
  }

  clear(): void {
    const { size } = this.#kept;
    this.#kept.clear();
    if (size > 0) this.#account(-size);
  }
}
