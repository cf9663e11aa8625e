import { isObject } from '../json/value.js';
import type { JsonObject, JsonValue } from '../ports/json.js';

/** Keywords whose values are data: what looks like a name there names nothing. */
const OF_DATA: ReadonlySet<string> = new Set(['const', 'default', 'enum', 'examples']);

/** Keywords that name a schema; before 2019 `$id` did, by `#name`. */
const NAMING: ReadonlySet<string> = new Set(['$anchor', '$dynamicAnchor', '$id']);

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

/** What is left of a schema without names: each slot of a tool asks for the same ones. */
const UNNAMED = new WeakMap<JsonObject | readonly JsonValue[], JsonValue>();

/**
 * A schema for another place of its document, without the names of what is below it: validators refuse a document in which
 * two schemas have one name.
 */
export function withoutNames(schema: JsonValue): JsonValue {
  if (typeof schema !== 'object' || schema === null) return schema;
  const unnamed = UNNAMED.get(schema) ?? stripped(schema);
  UNNAMED.set(schema, unnamed);
  return unnamed;
}

function stripped(schema: JsonObject | JsonValue[]): JsonValue {
  if (Array.isArray(schema)) {
    const items = schema.map(withoutNames);
    return items.some((item, index) => item !== schema[index]) ? items : schema;
  }
  const entries: [string, JsonValue | undefined][] = [];
  let isSame = true;
  for (const [key, inner] of Object.entries(schema)) {
    const isName = typeof inner === 'string' && NAMING.has(key) && (key !== '$id' || inner.startsWith('#'));
    const kept = OF_DATA.has(key) || inner === undefined ? inner : withoutNames(inner);
    if (!isName) entries.push([key, kept]);
    isSame &&= !isName && kept === inner;
  }
  // with fromEntries, a property named __proto__ stays a property
  return isSame ? schema : (Object.fromEntries(entries) as JsonObject);
}
