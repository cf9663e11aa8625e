/** A time at which a key may have expired. */
interface Due {
  /** By a stopwatch. */
  readonly at: number;
  readonly key: string;
}

/** Times of keys, of which the soonest is found at once: a binary heap. */
export class Expiries {
  #heap: Due[] = [];

  get size(): number {
    return this.#heap.length;
  }

  get first(): Due | undefined {
    return this.#heap[0];
  }

  add(due: Due): void {
    const heap = this.#heap;
    let at = heap.length;
    heap.push(due);
    while (at > 0) {
      const above = (at - 1) >> 1;
      const other = heap[above] as Due;
      if (other.at <= due.at) break;
      heap[at] = other;
      at = above;
    }
    heap[at] = due;
  }

  removeFirst(): void {
    const last = this.#heap.pop();
    if (last && this.#heap.length > 0) this.#sink(last, 0);
  }

  /** Begins anew with these. */
  replace(all: Due[]): void {
    this.#heap = all;
    for (let at = (all.length >> 1) - 1; at >= 0; at--) this.#sink(all[at] as Due, at);
  }

  /** Puts it at a place, or below. */
  #sink(due: Due, place: number): void {
    const heap = this.#heap;
    let at = place;
    for (let below = 2 * at + 1; below < heap.length; below = 2 * at + 1) {
      const [left, right] = [heap[below] as Due, heap[below + 1]];
      const isRight = right !== undefined && right.at < left.at;
      const sooner = isRight ? right : left;
      if (sooner.at >= due.at) break;
      heap[at] = sooner;
      at = isRight ? below + 1 : below;
    }
    heap[at] = due;
  }
}
