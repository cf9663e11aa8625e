import { LRUCache } from 'lru-cache';

interface LateCacheOptions {
  /** Most values. */
  max: number;
  /** For how long each is kept, in milliseconds; absent: until another takes its place. */
  ttl?: number;
  /** What that is measured by, to the millisecond; absent: the process's own time. */
  clock?: { now(): number };
}

/**
 * An `LRUCache` that takes memory only for the values that it has: it is made for the first one, and grows. With `max` one
 * takes the memory of all its values at once, 215 KB for ten thousand, or 370 with a time: three of them, of which most
 * servers need none, were half of what a server in the config took, and others were 1 MB of an idle process.
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
    this.#cache ??= made(this.#options);
    this.#cache.set(key, value);
  }

  delete(key: string): void {
    this.#cache?.delete(key);
  }

  keys(): string[] {
    return this.#cache ? [...this.#cache.keys()] : [];
  }

  clear(): void {
    this.#cache?.clear();
  }
}

function made<Value extends NonNullable<unknown>>({ max, ttl = 0, clock }: LateCacheOptions): LRUCache<string, Value> {
  const time = clock && { perf: clock, ttlResolution: 0 };
  return new LRUCache<string, Value>({ maxSize: max, sizeCalculation: () => 1, ttl, ...time });
}
