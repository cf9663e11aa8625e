import type { Dialect, SlotPlace } from '../../ports/dialect.js';
import type { WatchTree } from '../../wire/json/watch-tree.js';

/** Makes a tree. @param fileMin as of `toClientTree` */
type MakeTree = (places: readonly SlotPlace[], fileMin: number | undefined) => WatchTree;

/**
 * Trees that all servers of a process share, because they have the same dialects: a tree has 200 objects, and the
 * servers of an organisation had one or two each, which took them as long to make as all else at the start.
 */
export class KeptTrees {
  readonly #make: MakeTree;
  readonly #kept = new WeakMap<readonly Dialect[], Map<number | undefined, WatchTree>>();

  constructor(make: MakeTree) {
    this.#make = make;
  }

  of(dialects: readonly Dialect[], fileMin: number | undefined): WatchTree {
    const trees = this.#kept.get(dialects) ?? new Map<number | undefined, WatchTree>();
    this.#kept.set(dialects, trees);
    const known = trees.get(fileMin);
    if (known) return known;
    const places = dialects.flatMap(({ fromServers }) => fromServers?.places ?? []);
    const made = this.#make(places, fileMin);
    trees.set(fileMin, made);
    return made;
  }
}
