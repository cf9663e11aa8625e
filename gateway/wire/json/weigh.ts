const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
/** `[` and `{` differ in this bit only; so do `]` and `}`. */
const CURLY = 0x20;
const OPEN = 0x7b;
const CLOSE = 0x7d;

/** Within this many bytes after an escape another is likely, so a search would cost more than a loop. */
const DENSE = 64;

/** Limits within which a JSON text can be parsed in one step and walked by recursion. */
export interface WeightLimits {
  /** Nested arrays and objects. */
  depth: number;
  /** Members, items and containers: each costs up to 12 µs and 50 bytes, however short it is. */
  values: number;
}

/**
 * `heavy`: more values than allowed, where an empty array or object counts as two; its depth was then not checked to
 * the end.
 */
type Weight = 'light' | 'heavy' | 'deep';

/** Estimates the cost of parsing a JSON text. Does not validate it, and reads only as far as needed. */
export function weigh(text: Buffer, { depth: most, values: mostValues }: WeightLimits): Weight {
  // each level has two brackets, and each value at least a byte
  if (text.length <= most * 2 && text.length < mostValues) return 'light';
  const strings = new Strings(text);
  let depth = 0;
  let values = 1;
  for (let at = 0; at < text.length; at++) {
    const byte = text[at] as number;
    if (byte === QUOTE) at = strings.end(at + 1);
    else if (byte === COMMA) values += 1;
    else if ((byte | CURLY) === OPEN) {
      depth += 1;
      values += 1;
      if (depth > most) return 'deep';
    } else if ((byte | CURLY) === CLOSE) depth -= 1;
    if (values > mostValues) return 'heavy';
  }
  return 'light';
}

/** Finds the ends of strings, in order of position. */
class Strings {
  readonly #text: Buffer;
  /** Positions of the next backslash and the next quote: searched once, not once per string, and not once per escape. */
  #backslash = -1;
  #quote = -1;

  constructor(text: Buffer) {
    this.#text = text;
  }

  /** Position of the closing quote, or of the text's end. @param start after the opening quote */
  end(start: number): number {
    const text = this.#text;
    for (let at = start; ; ) {
      if (this.#quote < at) this.#quote = from(text.indexOf(QUOTE, at), text);
      if (this.#quote === text.length) return text.length;
      if (this.#backslash < at) this.#backslash = from(text.indexOf(BACKSLASH, at), text);
      if (this.#backslash > this.#quote) return this.#quote;
      at = this.#backslash;
      for (let plain = 0; plain < DENSE && at < text.length; at++) {
        const byte = text[at] as number;
        if (byte === QUOTE) return at;
        plain += 1;
        if (byte !== BACKSLASH) continue;
        at += 1;
        plain = 0;
      }
    }
  }
}

function from(found: number, text: Buffer): number {
  return found < 0 ? text.length : found;
}
