const LINE_FEED = 0x0a;
const PUSH = 0x3e;

/** Longest line that an answer begins with: the text of an error. Other lines hold a number. */
const LONGEST_LINE = 64 * 1024;

/**
 * Bytes of one answer. Nothing that Wharf keeps comes near it (`LONGEST_VALUE`). Redis lets a value have 512 MiB, and the
 * library reads an answer as a whole: one of 400 MB took 800 MB, also long after its command was given up.
 */
const LONGEST_ANSWER = 16 * 1024 * 1024;

/** Characters of a value that is written, each of up to three bytes: one that could not be read again is not written. */
export const LONGEST_VALUE = LONGEST_ANSWER / 4;

/** Values in one another; answers to Wharf's commands have two levels. */
const MOST_LEVELS = 16;

/** The first line of a value, by RESP2 and RESP3. `$` and its like have a text behind it, `*` and its like have values. */
const LINE = /^(?:([$=!])(-1|\d{1,9})|([*~>%])(-1|\d{1,6})|:[+-]?\d{1,19}|[+\-,(][^\r\n]*|_|#[tf])\r\n$/;

/** What of some bytes may be read as answers. */
interface Answers {
  /** Answers that end in them. */
  readonly ended: number;
  /** Those bytes without what Redis sends by itself. */
  readonly parts: readonly Buffer[];
}

/** Divides what Redis sends into answers. Keeps nothing of them but the line that has begun. */
export class Frames {
  /** Values that are to come, of each collection that has begun. */
  readonly #missing: number[] = [];
  #line = '';
  /** Bytes of a text that are to come, with the end of its line. */
  #text = 0;
  /** Bytes of the answer, with those of the text that are to come. */
  #size = 0;
  #isWithin = false;
  #isPush = false;

  /** @throws Error where that is not RESP */
  read(bytes: Buffer): Answers {
    const parts: Buffer[] = [];
    let ended = 0;
    let kept = 0;
    let began = 0;
    let at = 0;
    while (at < bytes.length) {
      if (!this.#isWithin) {
        this.#isWithin = true;
        this.#size = 0;
        this.#isPush = bytes[at] === PUSH;
        began = at;
      }
      const from = at;
      at = this.#text > 0 ? Math.min(bytes.length, at + this.#text) : endOfLine(bytes, at);
      const isEnd = this.#text > 0 ? this.#passText(at - from) : this.#readLine(bytes.toString('latin1', from, at));
      if (!isEnd || !this.#isLast()) continue;
      this.#isWithin = false;
      if (this.#isPush) {
        if (began > kept) parts.push(bytes.subarray(kept, began));
        kept = at;
      } else ended += 1;
    }
    const end = this.#isWithin && this.#isPush ? began : at;
    if (end > kept) parts.push(kept === 0 && end === bytes.length ? bytes : bytes.subarray(kept, end));
    return { ended, parts };
  }

  /** @returns whether the text, and so a value, ends there */
  #passText(length: number): boolean {
    this.#text -= length;
    return this.#text === 0;
  }

  /** @returns whether a value ends with that line */
  #readLine(part: string): boolean {
    this.#line += part;
    this.#count(part.length);
    if (!part.endsWith('\n')) {
      if (this.#line.length > LONGEST_LINE) throw notAnswers();
      return false;
    }
    const read = LINE.exec(this.#line);
    if (!read) throw notAnswers();
    this.#line = '';
    const [, text, length, collection, count] = read;
    if (text !== undefined && length !== '-1') {
      this.#text = Number(length) + 2;
      this.#count(this.#text);
    }
    const values = collection === undefined ? 0 : Number(count) * (collection === '%' ? 2 : 1);
    if (values > 0 && this.#missing.push(values) > MOST_LEVELS) throw notAnswers();
    return this.#text === 0 && values <= 0;
  }

  /** Before the bytes of a text have come: the library begins to keep them at once. */
  #count(bytes: number): void {
    this.#size += bytes;
    if (this.#size > LONGEST_ANSWER) throw new Error(`Redis has sent an answer of more than ${LONGEST_ANSWER} bytes.`);
  }

  /** A value has ended. @returns whether it is the last one of its answer */
  #isLast(): boolean {
    const missing = this.#missing;
    while (missing.length > 0) {
      const left = (missing.at(-1) as number) - 1;
      if (left > 0) {
        missing[missing.length - 1] = left;
        return false;
      }
      missing.pop();
    }
    return true;
  }
}

/** Behind the line that goes on there, or behind the bytes. */
function endOfLine(bytes: Buffer, at: number): number {
  const end = bytes.indexOf(LINE_FEED, at);
  return end < 0 ? bytes.length : end + 1;
}

function notAnswers(): Error {
  return new Error('Redis has sent what is not an answer.');
}
