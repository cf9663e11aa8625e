import type { JsonObject, JsonPath, JsonValue } from '../ports/json.js';
import { at, type Instance, isMap, LongText, withAt } from './instance.js';
import { Judge } from './judge.js';
import { effectOf } from './preserve.js';

/** Items of an array that are copied in the time of one step. */
const ITEMS_PER_STEP = 8;

/** A change of an existing value. */
export interface ValueChange {
  path: JsonPath;
  value: Instance;
}

/**
 * The structuredContent of one result, and which changes of it are allowed. Clients validate it against the
 * outputSchema they were shown, and refuse the whole result if it does not match. So a change that might invalidate it
 * is not made.
 */
export class StructuredValue {
  readonly #judge: Judge;
  /** Paths of strings that were cut out, and whether the path belongs to exactly one string. */
  readonly #cuts = new Map<string, boolean>();
  #value: Instance;

  /**
   * @param published the schema as shown to clients
   * @param value with every cut string empty
   */
  constructor(published: JsonObject, value: JsonValue) {
    this.#judge = new Judge(published);
    this.#value = value;
  }

  /** Records that the string at this path was cut out, and its length in characters. */
  lacks(path: JsonPath, { least, most }: { least: number; most: number }): void {
    const place = JSON.stringify(path);
    const isFirst = !this.#cuts.has(place);
    // for a repeated key, readers use one value or the other
    this.#cuts.set(place, isFirst && at(this.#value, path) === '' && this.#mayCopy(path));
    if (this.#cuts.get(place)) this.#value = withAt(this.#value, path, new LongText(least, most));
  }

  /** The first of these texts that may replace a cut string; undefined when the string has to stay. */
  fitting<T extends string | LongText>(path: JsonPath, texts: readonly T[]): T | undefined {
    if (this.#cuts.get(JSON.stringify(path)) !== true) return undefined;
    return texts.find((value) => this.#after([{ path, value }]) !== undefined);
  }

  /** Makes changes in order. @returns false when one of them is not allowed: then none is made */
  change(changes: readonly ValueChange[]): boolean {
    const after = this.#after(changes);
    if (after !== undefined) this.#value = after;
    return after !== undefined;
  }

  #after(changes: readonly ValueChange[]): Instance | undefined {
    let now = this.#value;
    for (const { path, value } of changes) {
      if (at(now, path) === undefined || !this.#mayCopy(path)) return undefined;
      const after = withAt(now, path, value);
      if (!effectOf(this.#judge, this.#judge.root, { before: now, after, path }).keeps) return undefined;
      now = after;
    }
    return now;
  }

  /**
   * False for `__proto__`, which some readers drop, and for too many values: a change copies the objects and arrays
   * around it.
   */
  #mayCopy(path: JsonPath): boolean {
    if (path.includes('__proto__')) return false;
    return path.every((_, length) => {
      const around = at(this.#value, path.slice(0, length));
      if (Array.isArray(around)) return this.#judge.look(1 + around.length / ITEMS_PER_STEP);
      return around === undefined || !isMap(around) || this.#judge.look(Object.keys(around).length);
    });
  }
}
