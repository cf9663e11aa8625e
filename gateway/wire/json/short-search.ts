import { inkAt } from '../blank.js';
import { endOfContainer, endOfString, plainKey } from './members.js';
import type { Path } from './pointer.js';
import { pointer } from './pointer.js';
import type { WatchNode } from './watch-tree.js';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN = 0x7b;
const CLOSE = 0x7d;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const SPACE = 0x20;
const NOT_ASCII = 0x80;

/** Reports at most this many repeated keys. The first is enough to refuse a message. */
const MOST_DUPLICATES = 10;

/** A key on the way to a watched value that an object has twice; `path` is the JSON Pointer of the object. */
interface RepeatedKey {
  path: string;
  key: string;
}

/**
 * Whether `searchShort` can read a text: an object, since readers take an array for a batch, and short, since it is read
 * in one step.
 */
export function isShortObject(text: Buffer): boolean {
  return text.length <= MOST_BYTES && text[inkAt(text)] === OPEN;
}

/** A byte costs about a nanosecond, which from here on is more than a reader. */
const MOST_BYTES = 16 * 1024;

/**
 * Finds the watched values of a text that `JSON.parse` has accepted, of which `isShortObject` is true, as a reader does. For
 * the message of a call this takes a sixth of the time that it takes to set up a reader, which is made for bytes that come in
 * pieces from a peer.
 * @param found called with each watched value: `[start, end)`
 * @returns keys that are named twice in an object on the way
 */
export function searchShort(
  text: Buffer,
  root: WatchNode,
  found: (path: Path, start: number, end: number) => void,
): readonly RepeatedKey[] {
  const search = new Search(text, found);
  search.value(inkAt(text), root);
  return search.repeated;
}

class Search {
  readonly repeated: RepeatedKey[] = [];
  readonly #text: Buffer;
  readonly #found: (path: Path, start: number, end: number) => void;
  readonly #path: (string | number)[] = [];

  constructor(text: Buffer, found: (path: Path, start: number, end: number) => void) {
    this.#text = text;
    this.#found = found;
  }

  /** @returns the position after the value that begins at `start` */
  value(start: number, node: WatchNode): number {
    const byte = this.#text[start];
    let end: number;
    if (byte === OPEN && node.keys) end = this.#object(start, node.keys);
    else if (byte === OPEN_ARRAY && node.items) end = this.#array(start, node.items);
    else end = this.#passed(start);
    if (node.watch !== undefined) this.#found([...this.#path], start, end);
    return end;
  }

  #object(start: number, keys: Record<string, WatchNode>): number {
    const text = this.#text;
    const names = Object.keys(keys);
    const seen = new Set<string>();
    let at = this.#ink(start + 1);
    while (at < text.length && text[at] !== CLOSE) {
      const end = endOfString(text, at);
      const key = this.#key(at, end, names);
      // behind the colon
      const value = this.#ink(this.#ink(end + 1) + 1);
      const isWatched = key !== undefined && Object.hasOwn(keys, key);
      at = this.#ink(isWatched ? this.#member(key, keys[key] as WatchNode, value, seen) : this.#passed(value));
      if (text[at] !== COMMA) break;
      at = this.#ink(at + 1);
    }
    return at + 1;
  }

  #member(key: string, node: WatchNode, start: number, seen: Set<string>): number {
    if (seen.has(key) && this.repeated.length < MOST_DUPLICATES) this.repeated.push({ path: pointer(this.#path), key });
    seen.add(key);
    this.#path.push(key);
    const end = this.value(start, node);
    this.#path.pop();
    return end;
  }

  #array(start: number, node: WatchNode): number {
    const text = this.#text;
    let at = this.#ink(start + 1);
    for (let index = 0; at < text.length && text[at] !== CLOSE_ARRAY; index++) {
      this.#path.push(index);
      at = this.#ink(this.value(at, node));
      this.#path.pop();
      if (text[at] !== COMMA) break;
      at = this.#ink(at + 1);
    }
    return at + 1;
  }

  /** The key between two quotes; undefined where no watched one can be written like this. @param names the watched ones */
  #key(start: number, end: number, names: readonly string[]): string | undefined {
    const text = this.#text;
    let bits = 0;
    let isEscaped = false;
    for (let at = start + 1; at < end; at++) {
      const byte = text[at] as number;
      bits |= byte;
      if (byte === BACKSLASH) isEscaped = true;
    }
    if (isEscaped) return plainKey(text, start, end);
    if (bits < NOT_ASCII) return mayBe(end - start - 1, names) ? text.toString('latin1', start + 1, end) : undefined;
    const key = text.toString('utf8', start + 1, end);
    // what is not UTF-8 must not become a key by being replaced
    return Buffer.from(key).equals(text.subarray(start + 1, end)) ? key : undefined;
  }

  /** Position after a value in which nothing is watched. */
  #passed(start: number): number {
    const text = this.#text;
    const byte = text[start];
    if (byte === QUOTE) return endOfString(text, start) + 1;
    if (byte === OPEN || byte === OPEN_ARRAY) return endOfContainer(text, start);
    let at = start;
    while (at < text.length && !endsScalar(text[at] as number)) at++;
    return at;
  }

  /** Position of the next byte that is not whitespace. */
  #ink(from: number): number {
    const text = this.#text;
    let at = from;
    while (at < text.length && (text[at] as number) <= SPACE) at++;
    return at;
  }
}

/** To compare more lengths than these would take longer than to make a string of the key. */
const MOST_LENGTHS = 16;

/** Whether one of the names has this length: most keys of a message have another one, and need not become strings. */
function mayBe(length: number, names: readonly string[]): boolean {
  if (names.length > MOST_LENGTHS) return true;
  for (const name of names) if (name.length === length) return true;
  return false;
}

function endsScalar(byte: number): boolean {
  return byte <= SPACE || byte === COMMA || byte === CLOSE || byte === CLOSE_ARRAY;
}
