import { isObject } from '../mcp/request.js';
import type { JsonPath, JsonValue } from '../ports/json.js';

/** What stands at a path in a value. Names come from peers: `constructor` is no member, and `0` is none of an array. */
export function valueAt(value: JsonValue | undefined, path: JsonPath): JsonValue | undefined {
  let at = value;
  for (const key of path) {
    if (Array.isArray(at)) at = typeof key === 'number' ? at[key] : undefined;
    else at = isObject(at) && Object.hasOwn(at, key) ? at[key] : undefined;
  }
  return at;
}
