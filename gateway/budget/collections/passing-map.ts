/**
 * Values by key that come and go, such as the calls under way. V8 copies a `Map` whenever its entries have come and gone
 * as often as it has room for, and links each old copy, with all that was in it, to the next: an old copy that has
 * outlived two collections keeps all that follow until the next collection of all old objects. Here it keeps the keys:
 * with calls over stdio, each collection of young objects took 6 ms instead of 1, and made 5 MiB old.
 */
export class PassingMap<Value, Key = string> {
  readonly #cells = new Map<Key, { value: Value | undefined }>();

  get size(): number {
    return this.#cells.size;
  }

  has(key: Key): boolean {
    return this.#cells.has(key);
  }

  get(key: Key): Value | undefined {
    return this.#cells.get(key)?.value;
  }

  set(key: Key, value: Value): void {
    const cell = this.#cells.get(key);
    if (cell === undefined) this.#cells.set(key, { value });
    else cell.value = value;
  }

  /** Returns false when there was none. */
  delete(key: Key): boolean {
    const cell = this.#cells.get(key);
    if (cell === undefined) return false;
    cell.value = undefined;
    return this.#cells.delete(key);
  }
}
