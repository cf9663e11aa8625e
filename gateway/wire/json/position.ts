import type { HeldMessage } from './held-message.js';
import { pointer } from './pointer.js';
import { blank, type TreeKey, type TreeNode, type WatchTree } from './watch-tree.js';

/** Most raw bytes for one byte of a key: `\u0061`. */
const ESCAPE_LENGTH = 6;
const BACKSLASH = 0x5c;

/** Most repeated keys recorded per message, each with its place: one is enough to act on. */
const MAX_DUPLICATES = 10;

/** An open container on the watch tree. */
interface Level {
  node: TreeNode;
  isArray: boolean;
  /** Held offset of the container, for its watch, and the number of values before it. */
  start: number;
  values: number;
  /** In an array: index of the current element. */
  index: number;
  /** In an object: the current key, if it is on the tree, and the node below it. */
  key: TreeKey | undefined;
  child: TreeNode | undefined;
  /** Held offsets of the raw key. */
  keyStart: number;
  keyEnd: number;
  /** Bits of the tree's keys that the object has had so far. */
  seen: number[];
}

const NOWHERE = blank();

/** Bytes of the raw key that there is room for from the start. */
const USUAL_KEY = 1024;

/** A tokenizer's place on the watch tree. Containers that are not on the tree are unknown here. */
export class Position {
  /** Number of open containers on the tree; the tokenizer is on it while this equals its own depth. */
  depth = 0;

  readonly #tree: WatchTree;
  /** Reused from one message to the next. */
  readonly #levels: Level[] = [];
  /** Keys from this length on are longer than the tree's, however they are escaped, and are not kept. */
  readonly #tooLong: number;
  /** The part of a key from earlier chunks. It grows with the key: a tree may have one of megabytes. */
  #key: Buffer;
  #keyLength = 0;

  constructor(tree: WatchTree) {
    this.#tree = tree;
    this.#tooLong = tree.longestKey * ESCAPE_LENGTH + 1;
    this.#key = Buffer.alloc(Math.min(this.#tooLong, USUAL_KEY));
  }

  reset(): void {
    this.depth = 0;
    this.#keyLength = 0;
  }

  /** The place of the value that begins now; undefined off the tree. */
  get place(): TreeNode | undefined {
    if (this.depth === 0) return this.#tree.root;
    const level = this.#levels[this.depth - 1] as Level;
    return level.isArray ? level.node.items : level.child;
  }

  /** A container begins at held offset `start`, the `values`th value. Does nothing off the tree. */
  open(isArray: boolean, start: number, values: number): void {
    const node = this.depth === 0 && isArray ? this.#tree.batch : this.place;
    if (!node) return;
    let level = this.#levels[this.depth];
    if (!level) {
      level = { ...FRESH_LEVEL, seen: [] };
      this.#levels.push(level);
    }
    level.node = node;
    level.isArray = isArray;
    level.start = start;
    level.values = values;
    level.index = 0;
    level.key = undefined;
    level.child = undefined;
    for (let word = 0; word < node.keyWords; word++) level.seen[word] = 0;
    this.depth++;
  }

  /** Ends the innermost container on the tree. Returns its watch, if it has one. */
  close(): { name: string; start: number; values: number } | undefined {
    const { node, start, values } = this.#levels[--this.depth] as Level;
    return node.watch === undefined ? undefined : { name: node.watch, start, values };
  }

  nextItem(): void {
    const level = this.#levels[this.depth - 1] as Level;
    level.index++;
  }

  keyStart(offset: number): void {
    const level = this.#levels[this.depth - 1] as Level;
    level.keyStart = offset;
    this.#keyLength = 0;
  }

  /** The chunk ends inside a key; `[start, end)` is the part in this chunk. */
  keyPart(chunk: Buffer, start: number, end: number): void {
    const length = Math.min(end - start, this.#tooLong - this.#keyLength);
    const needed = this.#keyLength + length;
    if (needed > this.#key.length) this.#grow(needed);
    chunk.copy(this.#key, this.#keyLength, start, start + length);
    this.#keyLength += length;
  }

  /** The key ends; `[start, end)` is the part in this chunk. */
  keyEnd(chunk: Buffer, start: number, end: number, offset: number, message: HeldMessage): void {
    const level = this.#levels[this.depth - 1] as Level;
    level.keyEnd = offset;
    level.key = undefined;
    level.child = level.node.other;
    if (!level.node.keys) return;
    if (this.#keyLength === 0) {
      if (end - start < this.#tooLong) this.#match(level, chunk, start, end, message);
    } else {
      this.keyPart(chunk, start, end);
      if (this.#keyLength < this.#tooLong) this.#match(level, this.#key, 0, this.#keyLength, message);
      this.#keyLength = 0;
    }
  }

  #grow(needed: number): void {
    const longer = Buffer.alloc(Math.min(this.#tooLong, 2 * needed));
    this.#key.copy(longer, 0, 0, this.#keyLength);
    this.#key = longer;
  }

  /** Path of the current value. */
  path(message: HeldMessage): (string | number)[] {
    const path: (string | number)[] = [];
    for (let depth = 0; depth < this.depth; depth++) {
      const level = this.#levels[depth] as Level;
      if (level.isArray) path.push(level.index);
      else path.push(level.key?.name ?? plainKey(message.slice(level.keyStart, level.keyEnd)));
    }
    return path;
  }

  #match(level: Level, bytes: Buffer, start: number, end: number, message: HeldMessage): void {
    let key = find(level.node, bytes, start, end);
    if (!key && end > start) {
      // not `indexOf`, which cannot stop at an end: in a chunk of megabytes each key would search all of it
      let slash = start;
      while (slash < end && bytes[slash] !== BACKSLASH) slash++;
      if (slash === end) return;
      const plain = Buffer.from(plainKey(bytes.subarray(start, end)));
      key = find(level.node, plain, 0, plain.length);
    }
    if (!key) return;
    level.key = key;
    level.child = key.node;
    const seen = level.seen[key.word] as number;
    if (seen & key.mask && message.duplicates.length < MAX_DUPLICATES) {
      message.record(message.duplicates, { path: this.#pointer(message), key: key.name });
    }
    level.seen[key.word] = seen | key.mask;
  }

  /** RFC 6901 pointer of the innermost open object. */
  #pointer(message: HeldMessage): string {
    return pointer(this.path(message).slice(0, -1));
  }
}

const FRESH_LEVEL: Level = {
  node: NOWHERE,
  isArray: false,
  start: 0,
  values: 0,
  index: 0,
  key: undefined,
  child: undefined,
  keyStart: 0,
  keyEnd: 0,
  seen: [],
};

function find(node: TreeNode, bytes: Buffer, start: number, end: number): TreeKey | undefined {
  const bucket = node.keys?.[end - start];
  if (!bucket) return undefined;
  for (const key of bucket) {
    let at = 0;
    while (at < key.bytes.length && key.bytes[at] === bytes[start + at]) at++;
    if (at === key.bytes.length) return key;
  }
  return undefined;
}

/** A key that the tokenizer has checked. Invalid UTF-8 becomes U+FFFD here, but stays in the message. */
function plainKey(raw: Buffer): string {
  return JSON.parse(`"${raw.toString('utf8')}"`) as string;
}
