import type { JsonPath } from '../ports/json.js';
import type { Truth } from './truth.js';

/** A string that is not in memory: only bounds of its length are known. */
export class LongText {
  readonly least: number;
  readonly most: number;

  constructor(least: number, most: number) {
    this.least = least;
    this.most = most;
  }
}

/** A JSON value in which long strings may be missing. */
export type Instance = null | boolean | number | string | LongText | Instance[] | { [key: string]: Instance };

/** Whether a value is a string, also one that is missing for its length. */
export function isText(value: Instance): value is string | LongText {
  return typeof value === 'string' || value instanceof LongText;
}

/** Whether a value is an object. */
export function isMap(value: Instance): value is { [key: string]: Instance } {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof LongText);
}

/** Keys of an object that are listed, and characters of a text that are counted, in the time of one step. */
const KEYS_PER_STEP = 4;
const CHARACTERS_PER_STEP = 100;

/** Length of a text in characters; JSON Schema counts code points. */
export function lengthOf(text: string | LongText): { least: number; most: number } {
  if (text instanceof LongText) return text;
  // a surrogate pair is two units of one character
  let length = text.length;
  if (/[\ud800-\udbff]/.test(text)) length = [...text].length;
  return { least: length, most: length };
}

/**
 * True when two values are the same JSON.
 * @param look called with the steps that it takes; returns false to stop
 */
export function equal(one: Instance, other: Instance, look: (steps?: number) => boolean): Truth {
  if (!look()) return undefined;
  if (one === other) return true;
  if (one instanceof LongText || other instanceof LongText) {
    if (!isText(one) || !isText(other)) return false;
    const counted = [one, other].reduce((sum, text) => sum + (typeof text === 'string' ? text.length : 0), 0);
    if (!look(Math.floor(counted / CHARACTERS_PER_STEP))) return undefined;
    const [a, b] = [lengthOf(one), lengthOf(other)];
    return a.most < b.least || b.most < a.least ? false : undefined;
  }
  if (Array.isArray(one) && Array.isArray(other)) {
    if (one.length !== other.length) return false;
    return every(one.length, (index) => equal(one[index] as Instance, other[index] as Instance, look));
  }
  if (!isMap(one) || !isMap(other)) return false;
  const keys = Object.keys(one);
  const others = Object.keys(other);
  // a value of ten thousand members may be compared with as many empty ones
  if (!look(Math.floor((keys.length + others.length) / KEYS_PER_STEP))) return undefined;
  if (keys.length !== others.length) return false;
  return every(keys.length, (index) => {
    const key = keys[index] as string;
    return Object.hasOwn(other, key) ? equal(one[key] as Instance, other[key] as Instance, look) : false;
  });
}

function every(length: number, ask: (index: number) => Truth): Truth {
  let result: Truth = true;
  for (let index = 0; index < length; index++) {
    const one = ask(index);
    if (one === false) return false;
    if (one === undefined) result = undefined;
  }
  return result;
}

/** The value at a path; undefined when the path does not exist. */
export function at(value: Instance, path: JsonPath): Instance | undefined {
  let found: Instance | undefined = value;
  for (const key of path) found = found === undefined ? undefined : member(found, key);
  return found;
}

/** The member or item of a value; undefined where it has none. */
export function member(value: Instance, key: string | number): Instance | undefined {
  if (Array.isArray(value)) return typeof key === 'number' ? value[key] : undefined;
  return typeof key === 'string' && isMap(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

/** Copies the value with another one at an existing path; shares the rest. */
export function withAt(value: Instance, path: JsonPath, inner: Instance): Instance {
  const [key, ...rest] = path;
  if (key === undefined) return inner;
  if (Array.isArray(value)) {
    const copy = [...value];
    copy[Number(key)] = withAt(copy[Number(key)] as Instance, rest, inner);
    return copy;
  }
  const map = value as { [key: string]: Instance };
  return { ...map, [String(key)]: withAt(map[String(key)] as Instance, rest, inner) };
}
