import type { JsonObject, JsonPath, JsonValue } from '../ports/json.js';
import { at, type Instance, isMap, LongText, withAt } from './instance.js';
import { Judge } from './judge.js';
import { effectOf } from './preserve.js';

/** Items of an array that are copied in the time of one step. */
const ITEMS_PER_STEP = 8;

/** One change of what is there. */
export interface ValueChange {
  path: JsonPath;
  value: JsonValue;
}

/**
 * The structuredContent of one result, and what may be changed in it. Clients hold it against the outputSchema that they
 * have been shown, and refuse the whole result if it does not fit: a change that might make them is not made.
 */
export class StructuredValue {
  readonly #judge: Judge;
  /** Where strings were cut out, and whether that is one string's place only. */
  readonly #cuts = new Map<string, boolean>();
  #value: Instance;

  /**
   * @param published the schema as clients have been shown it
   * @param value each string that was cut out of it is empty
   */
  constructor(published: JsonObject, value: JsonValue) {
    this.#judge = new Judge(published);
    this.#value = value;
  }

  /** The string at this path was cut out; its length, in characters. */
  lacks(path: JsonPath, { least, most }: { least: number; most: number }): void {
    const place = JSON.stringify(path);
    const isFirst = !this.#cuts.has(place);
    // of keys named twice readers take one or the other
    this.#cuts.set(place, isFirst && at(this.#value, path) === '' && this.#mayCopy(path));
    if (this.#cuts.get(place)) this.#value = withAt(this.#value, path, new LongText(least, most));
  }

  /** The first of these texts that may take the place of a string that was cut out; none: it has to stay. */
  fitting(path: JsonPath, texts: readonly string[]): string | undefined {
    if (this.#cuts.get(JSON.stringify(path)) !== true) return undefined;
    return texts.find((value) => this.#after([{ path, value }]) !== undefined);
  }

  /** Makes changes, one after the other. @returns false when one of them may not be made: then none is */
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
      if (!effectOf(this.#judge, this.#judge.root, { before: now, after }, path).keeps) return undefined;
      now = after;
    }
    return now;
  }

  /** Some readers drop a member of that name. A change copies the objects and arrays around it. */
  #mayCopy(path: JsonPath): boolean {
    if (path.includes('__proto__')) return false;
    return path.every((_, length) => {
      const around = at(this.#value, path.slice(0, length));
      if (Array.isArray(around)) return this.#judge.look(1 + around.length / ITEMS_PER_STEP);
      return around === undefined || !isMap(around) || this.#judge.look(Object.keys(around).length);
    });
  }
}
