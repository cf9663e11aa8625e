import { breathe } from '../budget/turn.js';
import type { JsonPath } from '../ports/json.js';
import { inkAt } from '../wire/blank.js';
import { createReader, type HeldMessage, type MessageReader, type WatchRange } from '../wire/json/reader.js';
import { compileWatchTree, type WatchNode } from '../wire/json/watch-tree.js';
import type { Edit } from './edits.js';

const FOUND = 'found';

/** Bytes read in one step: some milliseconds, whatever they are. */
const STEP = 64 * 1024;

/** A JSON text that is at hand as a whole. */
export class JsonText {
  readonly bytes: Buffer;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }

  get size(): number {
    return this.bytes.length;
  }

  slice(start: number, end: number): Buffer {
    return this.bytes.subarray(start, end);
  }

  /** The text with its edits, which are sorted and disjoint. */
  render(edits: readonly Edit[]): Buffer[] {
    const out: Buffer[] = [];
    let at = 0;
    for (const { start, end, bytes } of edits) {
      if (start < at) throw new RangeError(`edit [${start}, ${end}) is out of order`);
      if (start > at) out.push(this.slice(at, start));
      if (bytes.length > 0) out.push(bytes);
      at = end;
    }
    if (at < this.size) out.push(this.slice(at, this.size));
    return out;
  }
}

/** Where values stand in a JSON text, and which keys on the way to them came twice. */
export interface Located {
  text: JsonText;
  at(path: JsonPath): WatchRange | undefined;
  duplicate: { path: string; key: string } | undefined;
}

/**
 * Finds values by their paths without touching a byte of the text, which must be one JSON value that parses.
 * @param isBatch the paths begin with the index of a message
 */
export function locate(text: Buffer, paths: readonly JsonPath[], isBatch = false): Located {
  const search = new Search(text, paths, isBatch);
  search.reader.feed(text);
  return search.end();
}

/** The same of a text that may be long: in steps, between which others are served. */
export async function locateInSteps(text: Buffer, paths: readonly JsonPath[], isBatch = false): Promise<Located> {
  const search = new Search(text, paths, isBatch);
  for (let at = 0; at < text.length; at += STEP) {
    search.reader.feed(text.subarray(at, at + STEP));
    await breathe();
  }
  return search.end();
}

/**
 * Tells, in steps, where the items of an array stand that is a member of a text, which must be one object that parses.
 * @param visit called with each, in order
 */
export async function eachItem(text: Buffer, key: string, visit: (item: WatchRange) => void): Promise<void> {
  const reader = stepReader({ keys: { [key]: { items: { watch: FOUND } } } }, (range, message) => {
    message.forgetRange();
    visit(range);
  });
  for (let at = 0; at < text.length; at += STEP) {
    reader.feed(text.subarray(at, at + STEP));
    await breathe();
  }
  reader.end();
}

function stepReader(
  root: WatchNode,
  closed: (range: WatchRange, message: HeldMessage) => void,
  message: (message: HeldMessage) => void = () => {},
): MessageReader {
  return createReader('json', {
    tree: compileWatchTree(root),
    maxHeld: Number.POSITIVE_INFINITY,
    maxDepth: Number.POSITIVE_INFINITY,
    slotMin: Number.POSITIVE_INFINITY,
    holds: false,
    handler: { slot: () => ({ write: () => {}, end: () => {} }), closed, message },
  });
}

class Search {
  readonly reader: MessageReader;
  readonly #text: Buffer;
  readonly #wanted: Places;
  #values = 0;
  #isWhole = false;
  #duplicate: Located['duplicate'];

  constructor(text: Buffer, paths: readonly JsonPath[], isBatch: boolean) {
    const before = inkAt(text);
    const wanted = new Places(paths);
    this.#text = text;
    this.#wanted = wanted;
    this.reader = stepReader(
      treeOf(paths, isBatch),
      (range, message) => {
        wanted.found(range, before);
        // a tree knows no indexes: of an array of a million items all would be kept for the one that is looked for
        message.forgetRange();
      },
      ({ malformed, duplicates }) => {
        this.#values += 1;
        this.#isWhole = malformed === undefined;
        this.#duplicate = duplicates[0];
      },
    );
  }

  end(): Located {
    this.reader.end();
    if (this.#values !== 1 || !this.#isWhole) throw new Error('not one JSON value');
    return { text: new JsonText(this.#text), at: (path) => this.#wanted.at(path)?.range, duplicate: this.#duplicate };
  }
}

function treeOf(paths: readonly JsonPath[], isBatch: boolean): WatchNode {
  const root: WatchNode = {};
  for (const path of paths) {
    let node = root;
    for (const key of isBatch ? path.slice(1) : path) node = below(node, key);
    node.watch = FOUND;
  }
  return root;
}

function below(node: WatchNode, key: string | number): WatchNode {
  if (typeof key === 'number') {
    node.items ??= {};
    return node.items;
  }
  // names come from peers: `__proto__` must be a key like any other
  node.keys ??= Object.create(null) as Record<string, WatchNode>;
  node.keys[key] ??= {};
  return node.keys[key];
}

interface Place {
  range?: WatchRange;
  below: Map<string | number, Place>;
  isWanted?: true;
}

/** The paths that are looked for, and what was found there: the first of values with the same path. */
class Places {
  readonly #root: Place = { below: new Map() };

  constructor(paths: readonly JsonPath[]) {
    for (const path of paths) {
      let place = this.#root;
      for (const key of path) {
        const next: Place = place.below.get(key) ?? { below: new Map() };
        place.below.set(key, next);
        place = next;
      }
      place.isWanted = true;
    }
  }

  at(path: JsonPath): Place | undefined {
    let place: Place | undefined = this.#root;
    for (const key of path) {
      place = place.below.get(key);
      if (!place) return undefined;
    }
    return place;
  }

  /** @param before bytes before the value, from whose first byte the range is counted */
  found(range: WatchRange, before: number): void {
    const place = this.at(range.path);
    if (place?.isWanted) place.range ??= { ...range, start: range.start + before, end: range.end + before };
  }
}
