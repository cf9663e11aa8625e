import type { JsonObject, JsonPath, JsonValue } from '../ports/json.js';

/** Whether a JSON value is an object: not null, and not an array. */
export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** An object's own member. Names come from peers, so an inherited one such as `constructor` does not count. */
export function own<Value>(record: Readonly<Record<string, Value>>, key: string): Value | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}

/** An object's own member that is a string. */
export function textIn(object: JsonObject, key: string): string | undefined {
  const value = own(object, key);
  return typeof value === 'string' ? value : undefined;
}

/**
 * The value at a path. Names come from peers: inherited members such as `constructor` do not count, and neither does
 * the text `0` in an array.
 */
export function valueAt(value: JsonValue | undefined, path: JsonPath): JsonValue | undefined {
  let at = value;
  for (const key of path) {
    if (Array.isArray(at)) at = typeof key === 'number' ? at[key] : undefined;
    else at = isObject(at) && Object.hasOwn(at, key) ? at[key] : undefined;
  }
  return at;
}
