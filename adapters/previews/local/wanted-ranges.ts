import type { Ranges } from './content/ranges.js';
import type { Want } from './protocol.js';

/** More requests than any reader of a well-formed file makes. */
const MOST_WANTS = 32;
/** Most bytes of one request. */
const MOST_WANTED_BYTES = 1024 * 1024;

/** A file whose pieces the gateway is asked for, one after the other. */
export class WantedRanges implements Ranges {
  readonly size: number;
  readonly #ask: (want: Want) => void;
  #wants = 0;
  #waiting: { resolve(piece: Buffer): void; reject(error: Error): void } | undefined;

  /** @param ask sends a request; `arrived` or `cancel` follows */
  constructor(size: number, ask: (want: Want) => void) {
    this.size = size;
    this.#ask = ask;
  }

  async read(start: number, length: number): Promise<Buffer> {
    const wanted = Math.min(length, this.size - start, MOST_WANTED_BYTES);
    if (wanted <= 0) return Buffer.alloc(0);
    if (++this.#wants > MOST_WANTS) throw new Error('too many ranges');
    this.#ask({ start, length: wanted });
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
    });
  }

  arrived(piece: Buffer): void {
    this.#waiting?.resolve(piece);
    this.#waiting = undefined;
  }

  cancel(): void {
    this.#waiting?.reject(new Error('cancelled'));
    this.#waiting = undefined;
  }
}
