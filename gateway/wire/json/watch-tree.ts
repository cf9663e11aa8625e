/**
 * Which places of a message matter. A string at a `slot` may be cut; under `deep` every string at any depth may, as a
 * slot of that name. The range of a value at a `watch` is recorded, the text of a scalar at a `capture` is kept. `keys`
 * and `items` are the places below; `items` is every element of an array.
 */
export interface WatchNode {
  slot?: string;
  /** Raw length from which a string at this slot may be cut, instead of the reader's own. */
  slotMin?: number;
  deep?: string;
  watch?: string;
  capture?: string;
  keys?: Record<string, WatchNode>;
  /** Every member not listed in `keys`; not below a `deep`. */
  others?: WatchNode;
  items?: WatchNode;
}

/**
 * The place below `node` with this key, or of every item; made where it is missing.
 * @param key undefined for every item
 */
export function nodeBelow(node: WatchNode, key: string | undefined): WatchNode {
  if (key === undefined) {
    node.items ??= {};
    return node.items;
  }
  // names come from peers: `__proto__` must be a key like any other
  node.keys ??= Object.create(null) as Record<string, WatchNode>;
  node.keys[key] ??= {};
  return node.keys[key];
}

/** A key of the tree in the form that a reader compares. */
export interface TreeKey {
  readonly name: string;
  /** UTF-8. */
  readonly bytes: Buffer;
  /** Its bit among the keys of its node, for finding duplicates: `mask` in word `word`. */
  readonly word: number;
  readonly mask: number;
  readonly node: TreeNode;
}

/** A compiled place. */
export interface TreeNode {
  slot: string | undefined;
  slotMin: number | undefined;
  watch: string | undefined;
  capture: string | undefined;
  /** By length of the key in bytes, so most keys differ without being compared. */
  keys: (TreeKey[] | undefined)[] | undefined;
  /** Number of 32-bit words that hold one bit per key. */
  keyWords: number;
  items: TreeNode | undefined;
  /** For unlisted keys. */
  other: TreeNode | undefined;
}

/** The places that a reader watches, compiled from their nodes. */
export interface WatchTree {
  readonly root: TreeNode;
  /** A top-level array is a JSON-RPC batch: every element is matched from the root again. */
  readonly batch: TreeNode;
  /** Bytes of the longest key. */
  readonly longestKey: number;
}

const BITS = 32;

/** A list of all lengths up to that of a longer key would take eight times its bytes, so it has gaps. */
const USUAL_KEY = 1024;

/** Compiles the places to watch into what the reader looks up, for a message alone and in a batch. */
export function compileWatchTree(root: WatchNode): WatchTree {
  const compiler = new Compiler();
  const compiled = compiler.node(root, undefined);
  return { root: compiled, batch: { ...blank(), items: compiled }, longestKey: compiler.longestKey };
}

class Compiler {
  longestKey = 0;
  /** A node that is used twice, or is its own descendant, is compiled once per `deep` above it. */
  readonly #known = new Map<WatchNode, Map<string | undefined, TreeNode>>();
  readonly #deep = new Map<string, TreeNode>();

  node(source: WatchNode, inherited: string | undefined): TreeNode {
    const known = this.#known.get(source) ?? new Map<string | undefined, TreeNode>();
    this.#known.set(source, known);
    const existing = known.get(inherited);
    if (existing) return existing;
    const node: TreeNode = blank();
    known.set(inherited, node);
    const deep = source.deep ?? inherited;
    node.slot = source.slot ?? inherited;
    node.slotMin = source.slotMin;
    node.watch = source.watch;
    node.capture = source.capture;
    node.other = deep === undefined ? source.others && this.node(source.others, undefined) : this.#deepNode(deep);
    if (source.items) node.items = this.node(source.items, deep);
    else if (deep !== undefined) node.items = node.other;
    if (source.keys) this.#keys(node, source.keys, deep);
    return node;
  }

  #keys(node: TreeNode, keys: Record<string, WatchNode>, deep: string | undefined): void {
    const byLength: (TreeKey[] | undefined)[] = [];
    for (const [index, [name, child]] of Object.entries(keys).entries()) {
      const bytes = Buffer.from(name);
      while (byLength.length <= Math.min(bytes.length, USUAL_KEY)) byLength.push(undefined);
      const bucket = byLength[bytes.length] ?? [];
      byLength[bytes.length] = bucket;
      const word = Math.floor(index / BITS);
      bucket.push({ name, bytes, word, mask: 1 << (index % BITS), node: this.node(child, deep) });
      node.keyWords = word + 1;
      this.longestKey = Math.max(this.longestKey, bytes.length);
    }
    node.keys = byLength;
  }

  #deepNode(slot: string): TreeNode {
    const known = this.#deep.get(slot);
    if (known) return known;
    const node: TreeNode = { ...blank(), slot };
    node.other = node;
    node.items = node;
    this.#deep.set(slot, node);
    return node;
  }
}

/** A place at which nothing is wanted. */
export function blank(): TreeNode {
  return {
    slot: undefined,
    slotMin: undefined,
    watch: undefined,
    capture: undefined,
    keys: undefined,
    keyWords: 0,
    items: undefined,
    other: undefined,
  };
}
