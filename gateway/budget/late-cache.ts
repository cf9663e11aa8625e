import { LRUCache } from 'lru-cache';

interface LateCacheOptions {
  /** Most values. */
  max: number;
  /** For how long each is kept, in milliseconds; absent: until another takes its place. */
  ttl?: number;
}

/**
 * An `LRUCache` that is made for its first value. One takes the memory of all its values at once, 37 KB for a thousand of
 * them: three of them, of which most servers need none, were half of what a server in the config took.
 */
export class LateCache<Value extends NonNullable<unknown>> {
  readonly #options: LateCacheOptions;
  #cache: LRUCache<string, Value> | undefined;

  constructor(options: LateCacheOptions) {
    this.#options = options;
  }

  /** The value; from now on it is the one used last. */
  get(key: string): Value | undefined {
    return this.#cache?.get(key);
  }

  /** Its place in the order stays. */
  has(key: string): boolean {
    return this.#cache?.has(key) === true;
  }

  set(key: string, value: Value): void {
    this.#cache ??= new LRUCache<string, Value>(this.#options);
    this.#cache.set(key, value);
  }

  delete(key: string): void {
    this.#cache?.delete(key);
  }
}
