import type { JsonPath } from '../../../ports/json.js';
import { pointer } from '../../../wire/json/pointer.js';
import type { Replacement } from '../remote-edits.js';

/** How far the blocks of lists move because some before them became several, or were put before them. */
export class BlockMoves {
  /** The replaced blocks of each list: their places in it, and how many blocks more there are from there on. */
  readonly #lists = new Map<string, { at: number; sum: number }[]>();

  constructor(replacements: readonly Replacement[]) {
    for (const { link, range, blocks } of replacements.toSorted((a, b) => a.range.start - b.range.start)) {
      const [list, index] = placeIn(range.path);
      const known = this.#lists.get(list) ?? [];
      const gain = link === 'kept' ? blocks.length : blocks.length - 1;
      const sum = (known.at(-1)?.sum ?? 0) + gain;
      // what is put before a block moves the block itself
      known.push({ at: link === 'kept' ? index : index + 1, sum });
      this.#lists.set(list, known);
    }
  }

  /** Where the block at this path stands in its list afterwards, or the first of the blocks that take its place. */
  placeOf(path: JsonPath): number {
    const [list, index] = placeIn(path);
    const known = this.#lists.get(list) ?? [];
    // as many as there may be links, and each asks
    let [low, high] = [0, known.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (Number(known[middle]?.at) <= index) low = middle + 1;
      else high = middle;
    }
    return index + (known[low - 1]?.sum ?? 0);
  }
}

/** The list that holds the block of a path, and the block's place in it. */
function placeIn(path: JsonPath): [list: string, index: number] {
  const at = path.findLastIndex((key) => typeof key === 'number');
  return [pointer(path.slice(0, at)), Number(path[at])];
}
