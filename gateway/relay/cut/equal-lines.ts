/** The characters of base64 in a text. Those of the other alphabet are in names and rulers. */
export const BASE64 = new Uint8Array(256);
for (const byte of Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=')) BASE64[byte] = 1;

const LINE_FEED = 0x0a;
const RETURN = 0x0d;
const PADDING = 0x3d;
const MOST_PADDING = 2;

/** Characters of a line: OpenSSL writes 64, GitHub 60, MIME, Python and the command `base64` 76. */
const SHORTEST = 48;
const LONGEST = 128;
/** Raw bytes of the longest escape of a character. */
const LONGEST_ESCAPE = 6;

/** What may stand directly behind a last line without padding, besides a line break: a word of a sentence has a blank there. */
const CLOSING: ReadonlySet<number> = new Set(Buffer.from('"\'`<>)]},;'));

/** Whether a byte ends a line: CR or LF. */
export function isLineBreak(char: number): boolean {
  return char === LINE_FEED || char === RETURN;
}

/** Whether a word of so many raw bytes may be the first line of several. */
export function mayBeLine(rawLength: number): boolean {
  return rawLength >= SHORTEST && rawLength <= LONGEST * LONGEST_ESCAPE;
}

/**
 * Base64 in lines of equal length, behind the first of them: tells line by line whether it goes on. Only the last line may be
 * shorter. A line belongs to it only once its end is known, so that a sentence behind the last one stays in its text.
 */
export class Base64Lines {
  readonly #length: number;
  #state: 'break' | 'return' | 'line' = 'break';
  /** Characters of this line. */
  #count = 0;
  #padding = 0;

  private constructor(length: number) {
    this.#length = length;
  }

  /** Behind this line, without escapes; undefined where it is not the first one of several. */
  static behind(line: string): Base64Lines | undefined {
    const { length } = line;
    const isLine = length >= SHORTEST && length <= LONGEST && length % 4 === 0 && !line.endsWith('=');
    return isLine ? new Base64Lines(length) : undefined;
  }

  /**
   * @param char the next one; the first is that of a line break
   * @returns `line` where a line has come to its end before this character and others may follow, `last` behind the last one,
   * `over` where what came behind the last end of a line does not belong to the base64, undefined before either is known
   */
  push(char: number): 'line' | 'last' | 'over' | undefined {
    if (this.#state !== 'line') return this.#inBreak(char);
    if (BASE64[char] !== 1) return this.#close(char);
    if (char === PADDING) this.#padding += 1;
    else if (this.#padding > 0) return this.#isWhole ? 'last' : 'over';
    if (this.#count === this.#length || this.#padding > MOST_PADDING) return 'over';
    this.#count += 1;
    return undefined;
  }

  /** The text is over. @returns whether what came behind the last end of a line belongs to the base64 */
  end(): boolean {
    return this.#state === 'line' && this.#isWhole;
  }

  get #isWhole(): boolean {
    return this.#count > 0 && this.#count % 4 === 0;
  }

  #inBreak(char: number): 'over' | undefined {
    if (char === LINE_FEED) this.#state = 'line';
    else if (char === RETURN && this.#state === 'break') this.#state = 'return';
    else return 'over';
    this.#count = 0;
    return undefined;
  }

  #close(char: number): 'line' | 'last' | 'over' {
    if (!this.#isWhole) return 'over';
    if (this.#count === this.#length && this.#padding === 0 && isLineBreak(char)) {
      this.#state = 'break';
      this.#inBreak(char);
      return 'line';
    }
    // no word of a sentence has padding, so that blanks and full stops may follow it
    return this.#padding > 0 || isLineBreak(char) || CLOSING.has(char) ? 'last' : 'over';
  }
}
