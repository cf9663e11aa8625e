import { PassingMap } from './passing-map.js';

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

/** The values of one owner, in order of arrival. */
interface Owned<T, Owner> {
  readonly owner: Owner;
  readonly values: Line<T>;
  readonly turns: Turns<T, Owner>;
  /** In the order of turns. */
  turn: Place<Owned<T, Owner>> | undefined;
}

/** A place in a line; its holder can leave with it. */
export interface FairPlace<T> {
  readonly owned: { readonly turns: { remove(place: FairPlace<T>): boolean } };
  readonly place: Place<T>;
}

/** A place among the values of an owner. */
interface OwnedPlace<T, Owner> extends FairPlace<T> {
  readonly owned: Owned<T, Owner>;
}

/** Values whose owners take turns. */
class Turns<T, Owner> {
  readonly #byOwner = new PassingMap<Owned<T, Owner>, Owner>();
  readonly #order = new Line<Owned<T, Owner>>();

  get isEmpty(): boolean {
    return this.#order.first === undefined;
  }

  add(value: T, owner: Owner): FairPlace<T> {
    const owned = this.#byOwner.get(owner) ?? this.#begin(owner);
    return { owned, place: owned.values.add(value) };
  }

  /** @param taken a place that this gave out */
  remove(taken: FairPlace<T>): boolean {
    const { owned, place } = taken as OwnedPlace<T, Owner>;
    if (!owned.values.remove(place)) return false;
    if (owned.values.first !== undefined) return true;
    this.#byOwner.delete(owned.owner);
    if (owned.turn) this.#order.remove(owned.turn);
    return true;
  }

  take(mayTake: (owner: Owner) => boolean): T | undefined {
    for (let left = this.#byOwner.size; left > 0; left--) {
      const owned = this.#order.first;
      const place = owned?.values.firstPlace;
      if (!owned || !place) return undefined;
      if (owned.turn) this.#order.toEnd(owned.turn);
      if (!mayTake(owned.owner)) continue;
      this.remove({ owned, place });
      return place.value;
    }
    return undefined;
  }

  #begin(owner: Owner): Owned<T, Owner> {
    const owned: Owned<T, Owner> = { owner, values: new Line(), turns: this, turn: undefined };
    owned.turn = this.#order.add(owned);
    this.#byOwner.set(owner, owned);
    return owned;
  }
}

/**
 * A line in which the owners of values take turns, however many values each of them has there. The values of one owner come in order
 * of arrival. Those whose owner is not known have every second turn together: they may be of one owner or of a thousand. Among
 * them the sources that they come from take turns.
 * Every step has a constant cost, but for owners that are passed over.
 */
export class FairLine<T, Owner = string> {
  readonly #known = new Turns<T, Owner>();
  readonly #unknown = new Turns<T, object | undefined>();
  /** The last turn was a known owner's. */
  #wasKnown = false;

  get isEmpty(): boolean {
    return this.#known.isEmpty && this.#unknown.isEmpty;
  }

  /** @param source where a value without an owner comes from, such as a connection; those without one have the same */
  add(value: T, owner: Owner | undefined, source?: object): FairPlace<T> {
    return owner === undefined ? this.#unknown.add(value, source) : this.#known.add(value, owner);
  }

  /** Returns false when it had already left. @param place one that this line gave out */
  remove(place: FairPlace<T>): boolean {
    return place.owned.turns.remove(place);
  }

  /**
   * Takes out the first value of the owner whose turn it is; undefined when nothing is left.
   * @param mayTake false for an owner that is passed over, each at a cost of its own; undefined stands for all that are not known
   */
  take(mayTake: (owner: Owner | undefined) => boolean = anyOwner): T | undefined {
    return this.#wasKnown
      ? (this.#takeUnknown(mayTake) ?? this.#takeKnown(mayTake))
      : (this.#takeKnown(mayTake) ?? this.#takeUnknown(mayTake));
  }

  #takeKnown(mayTake: (owner: Owner | undefined) => boolean): T | undefined {
    const value = this.#known.take(mayTake);
    if (value !== undefined) this.#wasKnown = true;
    return value;
  }

  #takeUnknown(mayTake: (owner: Owner | undefined) => boolean): T | undefined {
    if (this.#unknown.isEmpty || !mayTake(undefined)) return undefined;
    this.#wasKnown = false;
    return this.#unknown.take(anyOwner);
  }
}

function anyOwner(): boolean {
  return true;
}
