import { breathe } from '../budget/turn.js';
import type { JsonPath } from '../ports/json.js';
import type { Owner } from '../ports/owner.js';
import { inkAt } from '../wire/blank.js';
import { createReader, type HeldMessage, type MessageReader, type WatchRange } from '../wire/json/reader.js';
import { isShortObject, searchShort } from '../wire/json/short-search.js';
import { compileWatchTree, nodeBelow, type WatchNode } from '../wire/json/watch-tree.js';

const FOUND = 'found';

/** Bytes read in one step: some milliseconds, whatever their content. */
const STEP = 64 * 1024;

/** A repeated key; `path` is the JSON Pointer of its object. */
export interface Duplicate {
  path: string;
  key: string;
}

/**
 * A JSON text that is in memory as a whole, and the places of some of its values. It is read once, for all wanted values
 * together, and does not change. The index has one entry for each wanted value, however many values the text has: so a
 * hostile text cannot make it grow.
 */
export class JsonDocument {
  readonly bytes: Buffer;
  /** The text is an array of messages, and each path begins with the index of one. */
  readonly isBatch: boolean;
  readonly #owner: Owner | undefined;
  #wanted: WantedPlaces | undefined;
  #duplicates: readonly Duplicate[] = [];

  private constructor(bytes: Buffer, isBatch: boolean, owner: Owner | undefined) {
    this.bytes = bytes;
    this.isBatch = isBatch;
    this.#owner = owner;
  }

  /**
   * @param bytes one valid JSON value
   * @param owner whose work it is to read it in steps
   */
  static of(bytes: Buffer, isBatch = false, owner?: Owner): JsonDocument {
    return new JsonDocument(bytes, isBatch, owner);
  }

  get size(): number {
    return this.bytes.length;
  }

  slice(start: number, end: number): Buffer {
    return this.bytes.subarray(start, end);
  }

  /** Finds the values at these paths. */
  find(paths: readonly JsonPath[]): this {
    if (this.#isShort) return this.#findShort(paths);
    const search = this.#search(paths);
    search.reader.feed(this.bytes);
    this.#duplicates = search.end();
    return this;
  }

  /** Finds values in a text that may be long: works in steps, and yields to other work between them. */
  findInSteps(paths: readonly JsonPath[]): this | Promise<this> {
    return this.#isShort ? this.#findShort(paths) : this.#findInSteps(paths);
  }

  async #findInSteps(paths: readonly JsonPath[]): Promise<this> {
    const search = this.#search(paths);
    for (let at = 0; at < this.bytes.length; at += STEP) {
      search.reader.feed(this.bytes.subarray(at, at + STEP));
      await breathe(this.#owner);
    }
    this.#duplicates = search.end();
    return this;
  }

  /** The place of the first value with this path, if it was wanted and exists. */
  at(path: JsonPath): Found | undefined {
    return this.#wanted?.at(path)?.range;
  }

  /** Repeated keys on the way to the wanted values; of very many, the first ones. */
  get duplicates(): readonly Duplicate[] {
    return this.#duplicates;
  }

  get #isShort(): boolean {
    return !this.isBatch && isShortObject(this.bytes);
  }

  #findShort(paths: readonly JsonPath[]): this {
    const wanted = this.#want(paths);
    this.#duplicates = searchShort(this.bytes, treeOf(paths, false), (path, start, end) => {
      wanted.found(path, { start, end });
    });
    return this;
  }

  #search(paths: readonly JsonPath[]): Search {
    return new Search(this.#want(paths), treeOf(paths, this.isBatch), inkAt(this.bytes));
  }

  #want(paths: readonly JsonPath[]): WantedPlaces {
    if (this.#wanted) throw new Error('a document is read once');
    this.#wanted = new WantedPlaces(paths);
    return this.#wanted;
  }
}

/** The texts of a batch's messages. @param count of them @param owner whose work it is */
export async function batchItems(batch: Buffer, count: number, owner: Owner): Promise<Buffer[]> {
  const document = JsonDocument.of(batch, true, owner);
  await document.findInSteps(itemPaths(count));
  return itemPaths(count).map((path) => {
    const { start, end } = document.at(path) as Found;
    return batch.subarray(start, end);
  });
}

/** The paths of a batch's messages. */
export function itemPaths(count: number): JsonPath[] {
  return Array.from({ length: count }, (_, index) => [index]);
}

/**
 * Reports, in steps, the places of an array's items. The array is a member of the text, which must be one valid object.
 * @param owner whose work it is
 * @param visit called with each item, in order
 */
export async function eachItem(
  text: Buffer,
  key: string,
  owner: Owner,
  visit: (item: WatchRange) => void,
): Promise<void> {
  const reader = stepReader({ keys: { [key]: { items: { watch: FOUND } } } }, (range, message) => {
    message.forgetRange();
    visit(range);
  });
  for (let at = 0; at < text.length; at += STEP) {
    reader.feed(text.subarray(at, at + STEP));
    await breathe(owner);
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
    holds: false,
    handler: { closed, message },
  });
}

/** One reading of a text. */
class Search {
  readonly reader: MessageReader;
  #values = 0;
  #isWhole = false;
  #duplicates: readonly Duplicate[] = [];

  /** @param before bytes before the value; a range counts from its first byte */
  constructor(wanted: WantedPlaces, tree: WatchNode, before: number) {
    this.reader = stepReader(
      tree,
      (range, message) => {
        wanted.found(range.path, { start: range.start + before, end: range.end + before });
        // a watch tree has no indexes: without this, every item of a million would be kept for the one that is wanted
        message.forgetRange();
      },
      ({ malformed, duplicates }) => {
        this.#values += 1;
        this.#isWhole = malformed === undefined;
        this.#duplicates = duplicates;
      },
    );
  }

  end(): readonly Duplicate[] {
    this.reader.end();
    if (this.#values !== 1 || !this.#isWhole) throw new Error('not one JSON value');
    return this.#duplicates;
  }
}

function treeOf(paths: readonly JsonPath[], isBatch: boolean): WatchNode {
  const root: WatchNode = {};
  for (const path of paths) {
    let node = root;
    for (const key of isBatch ? path.slice(1) : path) node = nodeBelow(node, typeof key === 'string' ? key : undefined);
    node.watch = FOUND;
  }
  return root;
}

/** Bytes `[start, end)` of the text. */
interface Found {
  readonly start: number;
  readonly end: number;
}

interface Place {
  range?: Found;
  below: Map<string | number, Place>;
  isWanted?: true;
}

/** The wanted paths and what was found there: the first of several values with the same path. */
class WantedPlaces {
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

  found(path: JsonPath, range: Found): void {
    const place = this.at(path);
    if (place?.isWanted) place.range ??= range;
  }
}
