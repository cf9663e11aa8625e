import type { JsonPath } from '../ports/json.js';
import { createReader, type HeldMessage, type WatchRange } from '../wire/json/reader.js';
import { compileWatchTree, type WatchNode } from '../wire/json/watch-tree.js';

const FOUND = 'found';

/** Where values stand in a JSON text, and which keys on the way to them came twice. */
export interface Located {
  message: HeldMessage;
  at(path: JsonPath): WatchRange | undefined;
  duplicate: { path: string; key: string } | undefined;
}

/**
 * Finds values by their paths without touching a byte of the text, which must be one JSON value that parses.
 * @param isBatch the paths begin with the index of a message
 */
export function locate(text: Buffer, paths: readonly JsonPath[], isBatch = false): Located {
  const root: WatchNode = {};
  for (const path of paths) {
    let node = root;
    for (const key of isBatch ? path.slice(1) : path) node = below(node, key);
    node.watch = FOUND;
  }
  const wanted = new Places(paths);
  let found: HeldMessage | undefined;
  const reader = createReader('json', {
    tree: compileWatchTree(root),
    maxHeld: Number.POSITIVE_INFINITY,
    maxDepth: Number.POSITIVE_INFINITY,
    slotMin: Number.POSITIVE_INFINITY,
    handler: {
      slot: () => ({ write: () => {}, end: () => {} }),
      closed: (range, message) => {
        wanted.found(range);
        // a tree knows no indexes: of an array of a million items all would be kept for the one that is looked for
        message.forgetRange();
      },
      message: (message) => {
        found = message;
      },
    },
  });
  reader.feed(text);
  reader.end();
  const message = found;
  if (!message || message.malformed) throw new Error('not one JSON value');
  return { message, at: (path) => wanted.at(path)?.range, duplicate: message.duplicates[0] };
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

  found(range: WatchRange): void {
    const place = this.at(range.path);
    if (place?.isWanted) place.range ??= range;
  }
}
