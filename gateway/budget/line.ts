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

  get firstPlace(): Place<T> | undefined {
    return this.#first;
  }

  add(value: T): Place<T> {
    const node: Node<T> = { value, isIn: true, before: this.#last, after: undefined };
    if (this.#last) this.#last.after = node;
    else this.#first = node;
    this.#last = node;
    return node;
  }

  /** Returns false when it had already left. @param place one that this line gave out */
  remove(place: Place<T>): boolean {
    const node = place as Node<T>;
    if (!node.isIn) return false;
    node.isIn = false;
    if (node.before) node.before.after = node.after;
    else this.#first = node.after;
    if (node.after) node.after.before = node.before;
    else this.#last = node.before;
    // its holder may live long, and would keep all that came after it
    node.before = undefined;
    node.after = undefined;
    return true;
  }
}
