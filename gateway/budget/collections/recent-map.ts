import { Line, type Place } from './line.js';

interface Item<Key, Value> {
  readonly key: Key;
  readonly value: Value;
}

/**
 * Values by key, in order of their last use. A `Map` can have that order too, when an entry is deleted and set again with
 * each use, but then V8 copies the whole map every few uses, and links each old copy to the next: with one entry, every
 * second use left a copy behind that only a collection of all old objects could free.
 */
export class RecentMap<Key, Value> {
  readonly #places = new Map<Key, Place<Item<Key, Value>>>();
  readonly #line = new Line<Item<Key, Value>>();

  /** The entry unused longest. */
  get oldest(): Readonly<Item<Key, Value>> | undefined {
    return this.#line.first;
  }

  get size(): number {
    return this.#places.size;
  }

  /** The value; from now on it is the one used last. */
  use(key: Key): Value | undefined {
    const place = this.#places.get(key);
    if (place === undefined) return undefined;
    this.#line.toEnd(place);
    return place.value.value;
  }

  /** The value; its place in the order stays. */
  peek(key: Key): Value | undefined {
    return this.#places.get(key)?.value.value;
  }

  /** Adds a value, or replaces that of the key; from now on it is the one used last. */
  set(key: Key, value: Value): void {
    this.delete(key);
    this.#places.set(key, this.#line.add({ key, value }));
  }

  /** Returns false when there was none. */
  delete(key: Key): boolean {
    const place = this.#places.get(key);
    if (place === undefined) return false;
    this.#places.delete(key);
    return this.#line.remove(place);
  }

  clear(): void {
    this.#places.clear();
    this.#line.clear();
  }

  /** Unused longest first. Between two steps, the entry that came last may be deleted or used, and no other. */
  *entries(): Generator<[Key, Value]> {
    for (const { key, value } of this.#line.values()) yield [key, value];
  }

  /** As `entries`. */
  *keys(): Generator<Key> {
    for (const { key } of this.#line.values()) yield key;
  }

  /** As `entries`. */
  *values(): Generator<Value> {
    for (const { value } of this.#line.values()) yield value;
  }
}
