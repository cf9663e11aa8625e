import { Line, type Place } from '../../budget/line.js';

interface Owned<T> {
  /** Undefined for the values whose owner is not known. */
  readonly owner: string | undefined;
  /** In order of arrival. */
  readonly values: Line<T>;
  /** Of a known owner, in the order of turns. */
  turn: Place<Owned<T>> | undefined;
}

/** A place in a line; its holder can leave with it. */
export interface FairPlace<T> {
  readonly owned: Owned<T>;
  readonly place: Place<T>;
}

/**
 * A line in which the owners of values take turns, however many values each of them has there. The values of one owner come in order
 * of arrival. Those whose owner is not known have every second turn together: they may be of one owner or of a thousand.
 * Every step has a constant cost.
 */
export class FairLine<T> {
  readonly #byOwner = new Map<string, Owned<T>>();
  readonly #turns = new Line<Owned<T>>();
  readonly #unknown: Owned<T> = { owner: undefined, values: new Line(), turn: undefined };
  /** The last turn was a known owner's. */
  #wasKnown = false;

  get isEmpty(): boolean {
    return this.#turns.first === undefined && this.#unknown.values.first === undefined;
  }

  add(value: T, owner: string | undefined): FairPlace<T> {
    const owned = owner === undefined ? this.#unknown : (this.#byOwner.get(owner) ?? this.#begin(owner));
    return { owned, place: owned.values.add(value) };
  }

  /** Returns false when it had already left. @param place one that this line gave out */
  remove({ owned, place }: FairPlace<T>): boolean {
    if (!owned.values.remove(place)) return false;
    if (owned.values.first !== undefined || owned.owner === undefined) return true;
    this.#byOwner.delete(owned.owner);
    if (owned.turn) this.#turns.remove(owned.turn);
    return true;
  }

  /** Takes out the first value of the owner whose turn it is; undefined when nothing is left. */
  take(): T | undefined {
    const known = this.#turns.first;
    const isUnknown = this.#unknown.values.first !== undefined && (this.#wasKnown || !known);
    const owned = isUnknown ? this.#unknown : known;
    const place = owned?.values.firstPlace;
    if (!owned || !place) return undefined;
    this.#wasKnown = !isUnknown;
    if (owned.turn) this.#turns.toEnd(owned.turn);
    this.remove({ owned, place });
    return place.value;
  }

  #begin(owner: string): Owned<T> {
    const owned: Owned<T> = { owner, values: new Line(), turn: undefined };
    owned.turn = this.#turns.add(owned);
    this.#byOwner.set(owner, owned);
    return owned;
  }
}
