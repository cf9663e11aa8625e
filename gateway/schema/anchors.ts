import { isObject } from '../json/value.js';
import type { JsonObject, JsonValue } from '../ports/json.js';

/** Keywords whose values are data, in which a name is no anchor. */
const OF_DATA: ReadonlySet<string> = new Set(['const', 'default', 'enum', 'examples']);

/** By the root. Undefined for a name that two schemas have: readers differ in which of them it is. */
const ANCHORS = new WeakMap<JsonObject, ReadonlyMap<string, JsonObject | undefined>>();

/**
 * The schema with a name of its own, to which `#name` refers.
 * @see https://json-schema.org/draft/2020-12/json-schema-core#section-8.2.2
 */
export function anchored(root: JsonObject, name: string): JsonObject | undefined {
  const anchors = ANCHORS.get(root) ?? anchorsIn(root);
  ANCHORS.set(root, anchors);
  return anchors.get(name);
}

/** Every value is visited once: a schema has at most `limits.values`. */
function anchorsIn(root: JsonObject): ReadonlyMap<string, JsonObject | undefined> {
  const found = new Map<string, JsonObject | undefined>();
  const waiting: JsonValue[] = [root];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (isObject(next)) {
      // names below another address are relative to that one
      if (next !== root && hasAddress(next)) continue;
      for (const name of namesOf(next)) found.set(name, found.has(name) ? undefined : next);
    }
    for (const [key, inner] of Object.entries(next as JsonObject)) {
      if (typeof inner === 'object' && inner !== null && !OF_DATA.has(key)) waiting.push(inner);
    }
  }
  return found;
}

function hasAddress({ $id, id }: JsonObject): boolean {
  return [$id, id].some((one) => typeof one === 'string' && !one.startsWith('#'));
}

function namesOf({ $anchor, $dynamicAnchor, $id }: JsonObject): Set<string> {
  const own = typeof $id === 'string' && $id.startsWith('#') ? $id.slice(1) : undefined;
  return new Set([$anchor, $dynamicAnchor, own].filter((name) => typeof name === 'string' && name !== '') as string[]);
}
