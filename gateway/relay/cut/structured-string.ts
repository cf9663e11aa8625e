import type { SlotSink } from '../../wire/json/reader.js';
import type { Cut } from './cut.js';

const BLANK = 0x20;

interface StructuredStringOptions {
  /** Raw bytes from which a string may hold a file among its words. */
  min: number;
  /** Takes the string for one that is a file, or none. */
  openCut: () => Cut;
  /** Takes back the cut that was opened last: its bytes go to a text. */
  withdraw: (cut: Cut) => void;
  /** Takes the string for a text. */
  openText: () => SlotSink;
  /** Takes back a text out of which nothing has been cut. @returns its bytes; undefined when it stays a text */
  withdrawText: () => readonly Buffer[] | undefined;
}

/**
 * A string of structuredContent. It is one cut, as long as it may be base64 from its beginning to its end. Once it is known to be
 * words, and long enough for a file among them, it is read like a text, in which a server mostly repeats it; one with no file
 * in it is one string again.
 */
export class StructuredString implements SlotSink {
  readonly #options: StructuredStringOptions;
  readonly #cut: Cut;
  #size = 0;
  #text: SlotSink | undefined;

  constructor(options: StructuredStringOptions) {
    this.#options = options;
    this.#cut = options.openCut();
  }

  write(chunk: Buffer, start: number, end: number): void {
    let at = start;
    while (at < end && !this.#text) {
      // not at the end of a chunk: what is taken into memory before it is words must not depend on that
      const until = Math.min(end, at + this.#step);
      this.#cut.write(chunk, at, until);
      this.#size += until - at;
      at = until;
      this.#readWords();
    }
    if (at < end) this.#text?.write(chunk, at, end);
  }

  end(): void {
    if (!this.#text) {
      this.#cut.end();
      // most strings have none, and to read one like a text takes 20 microseconds
      if (this.#mayHoldFile()) this.#readWords();
    }
    if (!this.#text) return;
    this.#text.end();
    const words = this.#options.withdrawText();
    if (!words) return;
    const cut = this.#options.openCut();
    writeAll(words, cut);
    cut.end();
  }

  /** False for a string in memory with a blank in each stretch that is as long as a file: base64 has none. */
  #mayHoldFile(): boolean {
    const { min } = this.#options;
    const begun = this.#size < min || this.#cut.dataUri ? undefined : this.#cut.inline;
    if (!begun) return false;
    const raw = Buffer.concat(begun);
    for (let at = 0; at + min <= raw.length; ) {
      const blank = raw.lastIndexOf(BLANK, at + min - 1);
      if (blank < at) return true;
      at = blank + 1;
    }
    return false;
  }

  /** Raw bytes after which the string may be known to be words. */
  get #step(): number {
    const missing = this.#options.min - this.#size;
    return Math.max(1, missing > 0 ? Math.min(missing, this.#cut.room) : this.#cut.room);
  }

  #readWords(): void {
    // what begins as a URI is not read as words in a text either
    if (this.#size < this.#options.min || this.#cut.dataUri || !this.#cut.isWords) return;
    const begun = this.#cut.inline ?? [];
    // released first: bytes that are counted twice would fail a message within its limit
    this.#options.withdraw(this.#cut);
    this.#text = this.#options.openText();
    writeAll(begun, this.#text);
  }
}

function writeAll(pieces: readonly Buffer[], to: SlotSink): void {
  for (const piece of pieces) to.write(piece, 0, piece.length);
}
