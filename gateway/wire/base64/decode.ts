import { WireError } from '../errors.js';
import { BACKSLASH, CR, isHex, LF, SPACE, TAB } from '../json/chars.js';

/**
 * Characters decoded in one go. A string of 128 KiB or more goes to V8's large-object space, where decoding falls from
 * 5.4 to 0.7 GB/s.
 */
const SLICE = 96 * 1024;
/** Below this length the byte loop is as fast. */
const MIN_SLICE = 64;

const PADDING = 0x3d;
const INVALID = -1;

/** 6-bit value of each character, both alphabets. */
const VALUES = new Int8Array(256).fill(INVALID);
for (const [value, char] of [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'].entries()) {
  VALUES[char.charCodeAt(0)] = value;
}
const DASH = 0x2d;
const UNDERSCORE = 0x5f;
VALUES[DASH] = 62;
VALUES[UNDERSCORE] = 63;

// Where spaces and tabs are. Next to a line break they are indentation; elsewhere they are not base64.
const TEXT = 0;
const AFTER_BREAK = 1;
/** Blanks after text, which a line break must follow. */
const BLANK = 2;

/** What a decoder is told about its text. */
export interface Base64DecoderOptions {
  /** False skips the search for url-safe characters; `canonical` is then meaningless. Default true. */
  trackCanonical?: boolean;
  /** The string is part of JSON that is itself a JSON string, so its characters may be escaped twice. */
  nested?: boolean;
  /** The string has been parsed already: it has no escapes, and its line breaks are literal. */
  parsed?: boolean;
  /**
   * Spaces and tabs may be anywhere, as for `atob`, by which SDK clients check a file. Default false: in a text that may
   * be a file they tell words from base64.
   */
  anyBlanks?: boolean;
}

/**
 * Decodes the raw bytes of a JSON string, in pieces of any size. Besides RFC 4648's standard alphabet it accepts: the
 * url-safe alphabet, also mixed in; JSON escapes of all these characters; CR and LF anywhere, escaped as JSON demands,
 * and spaces and tabs directly before or after them, or anywhere (`anyBlanks`); missing padding; leftover bits that do not form a byte. Anything
 * else is an error. After the padding only line breaks and such blanks may follow.
 */
export class Base64Decoder {
  readonly #trackCanonical: boolean;
  readonly #levels: number;
  /** What a blank after text is. */
  readonly #blank: typeof AFTER_BREAK | typeof BLANK;
  #chars = 0;
  #bytes = 0;
  #canonical = true;
  #canonicalChars = 0;

  /** The unfinished quad: its bits and how many characters they came from. */
  #bits = 0;
  #count = 0;
  /** Once padding has begun: how many more `=` the quad can take; -1 before. */
  #paddingLeft = -1;
  /** Per level of JSON: the number of escape characters seen so far (0 outside an escape), and the escape's value. */
  readonly #escape = new Uint8Array(2);
  readonly #escaped = new Uint16Array(2);
  #blanks = TEXT;

  constructor(options: Base64DecoderOptions = {}) {
    this.#trackCanonical = options.trackCanonical ?? true;
    this.#levels = options.parsed ? 0 : options.nested ? 2 : 1;
    this.#blank = options.anyBlanks ? AFTER_BREAK : BLANK;
  }

  /** Bytes decoded so far. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Raw bytes of the string taken so far. */
  get chars(): number {
    return this.#chars;
  }

  /** True while everything so far is spelled exactly as encoding the decoded bytes would spell it. */
  get canonical(): boolean {
    return this.#canonical;
  }

  /**
   * Length of the raw prefix that encoding the decoded bytes reproduces. While `canonical`, that is all of them,
   * including an unfinished quad, which later bytes decide on. Afterwards it is the whole quads before the first other
   * spelling, without a padded one: 3 decoded bytes for each 4 of them.
   */
  get canonicalChars(): number {
    return this.#canonical ? this.#chars : this.#canonicalChars;
  }

  /**
   * Decodes `[start, end)` of `src` into `out` at `at`, which must have room for `((end - start) * 3 >> 2) + 3` bytes.
   * @returns the number of bytes written
   * @throws WireError `base64` with the raw offset, `syntax` for a raw control character, which a JSON string cannot
   * hold. Nothing of the piece counts then: `chars`, `bytes` and `canonicalChars` keep their values, and `canonical` is
   * false.
   */
  push(src: Buffer, start: number, end: number, out: Buffer, at: number): number {
    const before = this.#canonicalChars;
    try {
      const written = this.#decode(src, start, end, out, at) - at;
      this.#chars += end - start;
      this.#bytes += written;
      return written;
    } catch (error) {
      this.#canonicalChars = before;
      this.#canonical = false;
      throw error;
    }
  }

  /**
   * Ends the string and writes the bytes of a last quad without padding.
   * @throws WireError `base64` inside an escape, after a stray blank, or with a single character left over
   */
  finish(out: Buffer, at: number): number {
    try {
      if (this.#isEscaping()) throw this.#error('unfinished escape', 0);
      if (this.#blanks === BLANK) throw this.#error('stray blank', 0);
      if (this.#paddingLeft < 0 && this.#count === 1) throw this.#error('a single base64 character is left over', 0);
    } catch (error) {
      this.#canonical = false;
      throw error;
    }
    if (this.#paddingLeft > 0) this.#canonical = false;
    if (this.#paddingLeft >= 0 || this.#count === 0) return 0;
    this.#canonical = false;
    const written = this.#partialQuad(out, at) - at;
    this.#bytes += written;
    this.#count = 0;
    return written;
  }

  #decode(src: Buffer, start: number, end: number, out: Buffer, to: number): number {
    let urlSafe = -1;
    let from = start;
    let at = to;
    while (from < end) {
      let until = from + 1;
      if (end - from >= MIN_SLICE && !this.#isBetween()) {
        const whole = Math.min((end - from) & ~3, SLICE);
        // The native decoder skips unknown characters and never fails. But when the output has exactly the length that
        // this many characters give, it skipped none: no exception in 3 million damaged strings.
        const padding = trailingPadding(src, from + whole);
        const written = out.write(src.toString('latin1', from, from + whole), at, 'base64');
        if (padding <= 2 && written === (whole >> 2) * 3 - padding) {
          if (this.#canonical && this.#trackCanonical) {
            if (urlSafe < from) urlSafe = nextUrlSafe(src, from, end);
            this.#countCanonical(src, from, whole, padding, urlSafe);
          }
          from += whole;
          at += written;
          this.#blanks = TEXT;
          if (padding > 0) this.#paddingLeft = 0;
          continue;
        }
        until = from + whole;
      }
      while (from < until) {
        if (until - from >= 4 && !this.#canonical && !this.#isBetween()) {
          const plain = quadsUntil(src, from, until, out, at);
          if (plain > from) this.#blanks = TEXT;
          at += ((plain - from) >> 2) * 3;
          from = plain;
          if (from === until) break;
        }
        at = this.#byte(src[from] as number, from - start, out, at);
        from++;
        if (this.#blanks !== TEXT && !this.#isEscaping()) from = this.#pastBlanks(src, from, end);
      }
    }
    return at;
  }

  /** After a blank: more of them change nothing. Megabytes of them kept the event loop for 250 ms one by one. */
  #pastBlanks(src: Buffer, start: number, end: number): number {
    const hasBreaks = this.#blanks === AFTER_BREAK && this.#levels === 1;
    let from = start;
    while (from < end) {
      if (src[from] === SPACE) from++;
      else if (hasBreaks && src[from] === BACKSLASH && from + 1 < end && isBlankEscape(src[from + 1])) from += 2;
      else break;
    }
    return from;
  }

  /** True while something has begun that only the byte loop can finish. */
  #isBetween(): boolean {
    return this.#count !== 0 || this.#isEscaping() || this.#paddingLeft >= 0 || this.#blanks === BLANK;
  }

  #isEscaping(): boolean {
    return this.#escape[0] !== 0 || this.#escape[1] !== 0;
  }

  /** After a slice was decoded whole: checks whether encoding gives the same characters. */
  #countCanonical(src: Buffer, from: number, length: number, padding: number, urlSafe: number): void {
    if (urlSafe < from + length) {
      this.#canonical = false;
      this.#canonicalChars += (urlSafe - from) & ~3;
      return;
    }
    this.#canonicalChars += padding > 0 ? length - 4 : length;
    if (padding === 0) return;
    const last = VALUES[src[from + length - padding - 1] as number] as number;
    if ((last & (padding === 1 ? 3 : 15)) !== 0) this.#canonical = false;
  }

  /**
   * Takes one raw byte, or the byte that one level of escapes produced. @param offset of its last raw byte in this
   * piece
   */
  #byte(byte: number, offset: number, out: Buffer, at: number, level = 0): number {
    if (level === this.#levels) return this.#char(byte, offset, out, at);
    if ((this.#escape[level] as number) > 0) return this.#escapeByte(byte, offset, out, at, level);
    // RFC 8259 §7: MUST be escaped. Accepting it would turn a message that every parser refuses into JSON
    if (level === 0 && byte < SPACE) {
      throw new WireError('syntax', 'raw control character in a string', this.#chars + offset);
    }
    if (byte !== BACKSLASH) return this.#byte(byte, offset, out, at, level + 1);
    this.#canonical = false;
    this.#escape[level] = 1;
    return at;
  }

  #escapeByte(byte: number, offset: number, out: Buffer, at: number, level: number): number {
    if (this.#escape[level] === 1) {
      this.#escape[level] = 0;
      switch (byte) {
        case BACKSLASH: // begins an escape of the next level; at the last level a backslash is not base64
        case 0x2f:
          return this.#byte(byte, offset, out, at, level + 1);
        case 0x6e:
          return this.#byte(LF, offset, out, at, level + 1);
        case 0x72:
          return this.#byte(CR, offset, out, at, level + 1);
        case 0x74:
          return this.#byte(TAB, offset, out, at, level + 1);
        case 0x75:
          this.#escape[level] = 2;
          this.#escaped[level] = 0;
          return at;
        default:
          throw this.#error('escape of something that is not base64', offset);
      }
    }
    if (!isHex(byte)) throw this.#error('bad unicode escape', offset);
    const digit = byte <= 0x39 ? byte - 0x30 : (byte | 0x20) - 0x57;
    this.#escaped[level] = (this.#escaped[level] as number) * 16 + digit;
    this.#escape[level] = (this.#escape[level] as number) + 1;
    if (this.#escape[level] < 6) return at;
    this.#escape[level] = 0;
    const escaped = this.#escaped[level];
    if (escaped > 0xff) throw this.#error('escape of something that is not base64', offset);
    return this.#byte(escaped, offset, out, at, level + 1);
  }

  #char(char: number, offset: number, out: Buffer, at: number): number {
    const value = VALUES[char] as number;
    if (value === INVALID) return this.#otherChar(char, offset, out, at);
    if (this.#paddingLeft >= 0) throw this.#error('base64 goes on after its padding', offset);
    if (this.#blanks === BLANK) throw this.#error('stray blank', offset);
    this.#blanks = TEXT;
    if (char === DASH || char === UNDERSCORE) this.#canonical = false;
    this.#bits = (this.#bits << 6) | value;
    if (++this.#count < 4) return at;
    out[at] = this.#bits >> 16;
    out[at + 1] = this.#bits >> 8;
    out[at + 2] = this.#bits;
    this.#bits = 0;
    this.#count = 0;
    if (this.#canonical) this.#canonicalChars += 4;
    return at + 3;
  }

  #otherChar(char: number, offset: number, out: Buffer, at: number): number {
    if (char === PADDING) {
      if (this.#blanks === BLANK) throw this.#error('stray blank', offset);
      this.#blanks = TEXT;
      if (this.#paddingLeft < 0 && this.#count >= 2) {
        this.#paddingLeft = 3 - this.#count;
        const unused = this.#bits & (this.#count === 2 ? 15 : 3);
        if (unused !== 0) this.#canonical = false;
        const end = this.#partialQuad(out, at);
        this.#count = 0;
        return end;
      }
      if (this.#paddingLeft > 0) {
        this.#paddingLeft--;
        return at;
      }
      throw this.#error('padding where none is due', offset);
    }
    if (char === LF || char === CR) this.#blanks = AFTER_BREAK;
    else if (char === SPACE || char === TAB) this.#blanks = this.#blanks === AFTER_BREAK ? AFTER_BREAK : this.#blank;
    else throw this.#error('not a base64 character', offset);
    this.#canonical = false;
    return at;
  }

  /** Writes the one or two bytes that two or three characters give. */
  #partialQuad(out: Buffer, at: number): number {
    if (this.#count === 2) {
      out[at] = this.#bits >> 4;
      return at + 1;
    }
    out[at] = this.#bits >> 10;
    out[at + 1] = this.#bits >> 2;
    return at + 2;
  }

  #error(reason: string, offset: number): WireError {
    return new WireError('base64', reason, this.#chars + offset);
  }
}

/**
 * Decodes whole quads of plain characters in either alphabet. This keeps some of the native speed for strings of short
 * lines or with escapes.
 * @returns the position of the first quad that is not plain
 */
function quadsUntil(src: Buffer, start: number, end: number, out: Buffer, to: number): number {
  let from = start;
  let at = to;
  for (; from + 4 <= end; from += 4, at += 3) {
    const a = VALUES[src[from] as number] as number;
    const b = VALUES[src[from + 1] as number] as number;
    const c = VALUES[src[from + 2] as number] as number;
    const d = VALUES[src[from + 3] as number] as number;
    const bits = (a << 18) | (b << 12) | (c << 6) | d;
    // INVALID has all bits set and stays negative when shifted
    if (bits < 0) break;
    out[at] = bits >> 16;
    out[at + 1] = bits >> 8;
    out[at + 2] = bits;
  }
  return from;
}

/** True for the letter of `\\n`, `\\r` and `\\t`. */
function isBlankEscape(letter: number | undefined): boolean {
  return letter === 0x6e || letter === 0x72 || letter === 0x74;
}

/** Number of `=` characters that the slice ends with; 3 means three or more. */
function trailingPadding(src: Buffer, end: number): number {
  let padding = 0;
  while (padding < 3 && src[end - 1 - padding] === PADDING) padding++;
  return padding;
}

/** First `-` or `_` in `[start, end)`, or `end`. */
function nextUrlSafe(src: Buffer, start: number, end: number): number {
  const piece = src.subarray(start, end);
  const dash = piece.indexOf(DASH);
  const underscore = piece.indexOf(UNDERSCORE);
  return Math.min(dash < 0 ? end : start + dash, underscore < 0 ? end : start + underscore);
}
