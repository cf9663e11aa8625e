import type { JsonObject, JsonPath, JsonValue } from '../../../gateway/ports/dialect.js';

export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A member of an object. Names come from peers: `constructor` is none. */
export function own(object: JsonObject, key: string): JsonValue | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** A member that is a text. */
export function textIn(object: JsonObject, key: string): string | undefined {
  const value = own(object, key);
  return typeof value === 'string' ? value : undefined;
}

export function valueAt(value: JsonValue | undefined, path: JsonPath): JsonValue | undefined {
  return path.reduce<JsonValue | undefined>(
    (at, key) => (Array.isArray(at) ? at[Number(key)] : isObject(at) ? own(at, String(key)) : undefined),
    value,
  );
}
