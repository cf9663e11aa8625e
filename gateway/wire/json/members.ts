import { isSpace } from './chars.js';

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const SMALL_U = 0x75;
/** `[` and `{` differ in this bit only; so do `]` and `}`. */
const CURLY = 0x20;
const OPEN = 0x7b;
const CLOSE = 0x7d;
const OPEN_ARRAY = 0x5b;

/**
 * Bytes of a string that are read one by one before its end is searched for: a search costs as much. In the text of a file,
 * of megabytes, that is thirty times as fast.
 */
const NEAR = 64;

/** A key whose object is read, and the keys wanted below it. */
export interface Asked {
  /** Plain ASCII without a slash, so it can only be written literally or with `\\u` escapes. */
  readonly key: string;
  readonly inner: readonly Asked[];
}

/** An object as written: `JSON.parse` keeps only the last of several members with one name. */
export interface WrittenObject {
  /** Position of its `{`. */
  start: number;
  members: number;
  /** Objects under the requested keys. */
  inner: { key: string; object: WrittenObject }[];
}

/**
 * The objects at the top of a text that `JSON.parse` has accepted: the text itself, or the items of an array. Reads
 * each byte once and turns only the requested keys into strings.
 */
export function writtenObjects(text: Buffer, asked: readonly Asked[]): WrittenObject[] {
  return new Walk(text).top(asked);
}

/** A key that occurs twice in the object at `start`. */
export function repeatedKey(text: Buffer, start: number): string | undefined {
  const seen = new Set<string>();
  let repeated: string | undefined;
  new Walk(text).object(start, [], (key) => {
    if (seen.has(key)) repeated ??= key;
    seen.add(key);
  });
  return repeated;
}

class Walk {
  readonly #text: Buffer;
  /** Position after the last thing read. */
  #at = 0;

  constructor(text: Buffer) {
    this.#text = text;
  }

  top(asked: readonly Asked[]): WrittenObject[] {
    const text = this.#text;
    let at = 0;
    while (at < text.length && isSpace(text[at] as number)) at++;
    if (text[at] === OPEN) return [this.object(at, asked)];
    if (text[at] !== OPEN_ARRAY) return [];
    const found: WrittenObject[] = [];
    for (at++; at < text.length; at++) {
      const byte = text[at] as number;
      if (byte === OPEN) {
        found.push(this.object(at, asked));
        at = this.#at - 1;
      } else if (byte === OPEN_ARRAY) at = endOfContainer(text, at) - 1;
      else if (byte === QUOTE) at = endOfString(text, at);
    }
    return found;
  }

  /** @param each called with every key */
  object(start: number, asked: readonly Asked[], each?: (key: string) => void): WrittenObject {
    const text = this.#text;
    const found: WrittenObject = { start, members: 0, inner: [] };
    let key: Asked | undefined;
    let isKeyDue = true;
    let at = start + 1;
    for (; at < text.length; at++) {
      const byte = text[at] as number;
      if (byte === QUOTE) {
        const end = endOfString(text, at);
        if (isKeyDue) {
          key = this.#askedAt(at, end, asked);
          each?.(plainKey(text, at, end));
          found.members += 1;
          isKeyDue = false;
        }
        at = end;
      } else if (byte === COMMA) isKeyDue = true;
      else if (byte === OPEN && key !== undefined) {
        found.inner.push({ key: key.key, object: this.object(at, key.inner) });
        at = this.#at - 1;
      } else if ((byte | CURLY) === OPEN) at = endOfContainer(text, at) - 1;
      else if ((byte | CURLY) === CLOSE) break;
    }
    this.#at = at + 1;
    return found;
  }

  /** The key between two quotes, if it was requested; other keys never become strings. */
  #askedAt(start: number, end: number, asked: readonly Asked[]): Asked | undefined {
    for (const one of asked) if (this.#isKey(start + 1, end, one.key)) return one;
    return undefined;
  }

  #isKey(start: number, end: number, key: string): boolean {
    const text = this.#text;
    let at = start;
    for (let index = 0; index < key.length; index++) {
      let code = text[at++];
      if (code === BACKSLASH && text[at] === SMALL_U) {
        code = Number.parseInt(text.toString('latin1', at + 1, at + 5), 16);
        at += 5;
      }
      if (at > end || code !== key.charCodeAt(index)) return false;
    }
    return at === end;
  }
}

/** Position after the array or object that begins at `start` of a valid text. */
export function endOfContainer(text: Buffer, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const byte = text[at] as number;
    if (byte === QUOTE) at = endOfString(text, at);
    else if ((byte | CURLY) === OPEN) depth += 1;
    else if ((byte | CURLY) === CLOSE) {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return text.length;
}

/** Position of the quote that ends the string with its first quote at `start`. */
export function endOfString(text: Buffer, start: number): number {
  for (let at = start + 1; at < text.length; ) {
    for (const near = Math.min(at + NEAR, text.length); at < near; at++) {
      const byte = text[at] as number;
      if (byte === QUOTE) return at;
      if (byte === BACKSLASH) at++;
    }
    const quote = at < text.length ? text.indexOf(QUOTE, at) : -1;
    if (quote < 0) break;
    if (backslashesBefore(text, quote, at) % 2 === 0) return quote;
    at = quote + 1;
  }
  return text.length;
}

/** How many backslashes stand directly before `end`, from `start` on. */
function backslashesBefore(text: Buffer, end: number, start: number): number {
  let at = end;
  while (at > start && text[at - 1] === BACKSLASH) at -= 1;
  return end - at;
}

/** The key between two quotes. */
export function plainKey(text: Buffer, start: number, end: number): string {
  const raw = text.toString('utf8', start + 1, end);
  return raw.includes('\\') ? (JSON.parse(`"${raw}"`) as string) : raw;
}
