/** What is kept until a time. */
export interface Expiring {
  /** By a stopwatch. Once it is another time, `move` must be called. */
  readonly expiresAt: number;
  /** Its place in the heap. Only the heap sets it. */
  place: number;
}

/**
 * What expires, of which the soonest is found at once: a binary heap. Each knows its place in it, so that it leaves, or gets
 * another time, without a look at the others. A heap that only forgot its first one had to be made anew now and then, which
 * took a tenth of a second with a million keys.
 */
export class Expiries<Kept extends Expiring> {
  readonly #heap: Kept[] = [];

  get first(): Kept | undefined {
    return this.#heap[0];
  }

  add(one: Kept): void {
    this.#heap.push(one);
    this.#settle(one, this.#heap.length - 1);
  }

  /** It has another time. @param one that is in it */
  move(one: Kept): void {
    this.#settle(one, one.place);
  }

  /** @param one that is in it */
  remove(one: Kept): void {
    const last = this.#heap.pop() as Kept;
    if (last !== one) this.#settle(last, one.place);
  }

  clear(): void {
    this.#heap.length = 0;
  }

  /** Puts it at a place of the heap, or as far above or below as the order wants it. */
  #settle(one: Kept, place: number): void {
    const at = this.#rise(one, place);
    if (at === place) this.#sink(one, place);
    else this.#put(one, at);
  }

  /** Makes room above a place for what expires sooner. @returns the place */
  #rise({ expiresAt }: Kept, place: number): number {
    let at = place;
    while (at > 0) {
      const above = (at - 1) >> 1;
      const other = this.#heap[above] as Kept;
      if (other.expiresAt <= expiresAt) break;
      this.#put(other, at);
      at = above;
    }
    return at;
  }

  #sink(one: Kept, place: number): void {
    const heap = this.#heap;
    let at = place;
    for (let below = 2 * at + 1; below < heap.length; below = 2 * at + 1) {
      const [left, right] = [heap[below] as Kept, heap[below + 1]];
      const isRight = right !== undefined && right.expiresAt < left.expiresAt;
      const sooner = isRight ? right : left;
      if (sooner.expiresAt >= one.expiresAt) break;
      this.#put(sooner, at);
      at = isRight ? below + 1 : below;
    }
    this.#put(one, at);
  }

  #put(one: Kept, at: number): void {
    this.#heap[at] = one;
    one.place = at;
  }
}
