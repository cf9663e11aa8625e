import type { HeldMessage } from './held-message.js';
import type { TreeKey, TreeNode, WatchTree } from './watch-tree.js';

/** Raw bytes that one byte of a key can take: `\u0061`. */
const ESCAPE_LENGTH = 6;
const BACKSLASH = 0x5c;

/** Keys that came twice, of which each is noted with its place: one is enough to tell. */
const MAX_DUPLICATES = 10;

/** One open container that is on the watch tree. */
interface Level {
  node: TreeNode;
  isArray: boolean;
  /** Held offset of the container, for its watch, and the values that came before it. */
  start: number;
  values: number;
  /** Of an array: index of the element at hand. */
  index: number;
  /** Of an object: the key at hand when it is one of the tree's, and what is below it. */
  key: TreeKey | undefined;
  child: TreeNode | undefined;
  /** Held offsets of the raw key. */
  keyStart: number;
  keyEnd: number;
  /** Bits of the tree's keys that the object has had. */
  seen: number[];
}

const NOWHERE: TreeNode = {
  slot: undefined,
  watch: undefined,
  capture: undefined,
  keys: undefined,
  keyWords: 0,
  items: undefined,
  other: undefined,
};

/** Where a tokenizer stands on the watch tree. Containers that are not on it are not known here at all. */
export class Position {
  /** Open containers on the tree; the tokenizer is on it while this equals its own depth. */
  depth = 0;

  readonly #tree: WatchTree;
  /** Reused from one message to the next. */
  readonly #levels: Level[] = [];
  /** The part of a key that came in earlier chunks; longer keys than the tree's are not kept. */
  readonly #key: Buffer;
  #keyLength = 0;

  constructor(tree: WatchTree) {
    this.#tree = tree;
    this.#key = Buffer.alloc(tree.longestKey * ESCAPE_LENGTH + 1);
  }

  reset(): void {
    this.depth = 0;
    this.#keyLength = 0;
  }

  /** The place of the value that begins now; undefined when it is not on the tree. */
  get place(): TreeNode | undefined {
    if (this.depth === 0) return this.#tree.root;
    const level = this.#levels[this.depth - 1] as Level;
    return level.isArray ? level.node.items : level.child;
  }

  /** A container begins at held offset `start`, the `values`th value. Does nothing where it is not on the tree. */
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

  /** The innermost container on the tree ends. Gives its watch, if it has one. */
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

  /** The chunk ends inside a key: `[start, end)` is the part of it that this chunk has. */
  keyPart(chunk: Buffer, start: number, end: number): void {
    const length = Math.min(end - start, this.#key.length - this.#keyLength);
    chunk.copy(this.#key, this.#keyLength, start, start + length);
    this.#keyLength += length;
  }

  /** The key ends; `[start, end)` is the part of it that this chunk has. */
  keyEnd(chunk: Buffer, start: number, end: number, offset: number, message: HeldMessage): void {
    const level = this.#levels[this.depth - 1] as Level;
    level.keyEnd = offset;
    level.key = undefined;
    level.child = level.node.other;
    if (!level.node.keys) return;
    if (this.#keyLength === 0) {
      if (end - start < this.#key.length) this.#match(level, chunk, start, end, message);
    } else {
      this.keyPart(chunk, start, end);
      if (this.#keyLength < this.#key.length) this.#match(level, this.#key, 0, this.#keyLength, message);
      this.#keyLength = 0;
    }
  }

  /** Of the value at hand. */
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
      // not `indexOf`, which knows no end: with megabytes in one chunk each key would be a search through all of them
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

  /** RFC 6901, of the innermost open object. */
  #pointer(message: HeldMessage): string {
    const path = this.path(message).slice(0, -1);
    return path.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
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

/** A key that the tokenizer has checked; invalid UTF-8 in it becomes U+FFFD here, in the message it stays. */
function plainKey(raw: Buffer): string {
  return JSON.parse(`"${raw.toString('utf8')}"`) as string;
}
