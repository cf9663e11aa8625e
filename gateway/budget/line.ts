/** A place in a line; its holder can leave with it. */
export interface Place<T> {
  readonly value: T;
  readonly isIn: boolean;
}

interface Node<T> extends Place<T> {
  isIn: boolean;
  before: Node<T> | undefined;
  after: Node<T> | undefined;
}

/**
 * Values in order of arrival, any of which may leave at any time. A `Set` is too slow at finding its first value: V8
 * walks over all that have left before it, which made a line of 100,000 quadratic.
 */
export class Line<T> {
  #first: Node<T> | undefined;
  #last: Node<T> | undefined;

  get first(): T | undefined {
    return this.#first?.value;
  }

  get last(): T | undefined {
    return this.#last?.value;
  }

  get firstPlace(): Place<T> | undefined {
    return this.#first;
  }

  add(value: T): Place<T> {
    const node: Node<T> = { value, isIn: true, before: undefined, after: undefined };
    this.#append(node);
    return node;
  }

  /** Makes it the last one; a place that has left stays out. @param place one that this line gave out */
  toEnd(place: Place<T>): void {
    const node = place as Node<T>;
    if (!node.isIn || node === this.#last) return;
    this.#unlink(node);
    this.#append(node);
  }

  /** Returns false when it had already left. @param place one that this line gave out */
  remove(place: Place<T>): boolean {
    const node = place as Node<T>;
    if (!node.isIn) return false;
    node.isIn = false;
    this.#unlink(node);
    // its holder may live long, and would keep all that came after it
    node.before = undefined;
    node.after = undefined;
    return true;
  }

  /** All leave. */
  clear(): void {
    while (this.#first) this.remove(this.#first);
  }

  /** From the first to the last. Between two steps, the value that came last may leave or go to the end, and no other. */
  *values(): Generator<T> {
    let node = this.#first;
    const last = this.#last;
    while (node) {
      const { after } = node;
      const isLast = node === last;
      yield node.value;
      if (isLast) return;
      node = after;
    }
  }

  #append(node: Node<T>): void {
    node.before = this.#last;
    node.after = undefined;
    if (this.#last) this.#last.after = node;
    else this.#first = node;
    this.#last = node;
  }

  #unlink({ before, after }: Node<T>): void {
    if (before) before.after = after;
    else this.#first = after;
    if (after) after.before = before;
    else this.#last = before;
  }
}
