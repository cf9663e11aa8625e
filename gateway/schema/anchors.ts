import { isObject } from '../json/value.js';
import type { JsonObject, JsonValue } from '../ports/json.js';

/** Keywords whose values are data: what looks like a name there names nothing. */
const OF_DATA: ReadonlySet<string> = new Set(['const', 'default', 'enum', 'examples']);

/** Keywords that name a schema; before 2019 `$id` did, by `#name`. */
const NAMING: ReadonlySet<string> = new Set(['$anchor', '$dynamicAnchor', '$id']);

/** References, which lead elsewhere below another address. */
const REFERRING: readonly string[] = ['$ref', '$dynamicRef', '$recursiveRef'];

/** Undefined for a name that two schemas have: readers differ in which of them it is. */
type Named = Map<string, JsonObject | undefined>;

/** By the root: schemas by the names of anchors, and by addresses of their own. */
const NAMES = new WeakMap<JsonObject, { anchors: Named; addresses: Named }>();

/**
 * The schema with a name of its own, to which `#name` refers.
 * @see https://json-schema.org/draft/2020-12/json-schema-core#section-8.2.2
 */
export function anchored(root: JsonObject, name: string): JsonObject | undefined {
  return namesIn(root).anchors.get(name);
}

/**
 * The schema below a root with an address of its own (`$id`), as TypeBox writes those that are named. Only one without
 * references: these would be relative to that address.
 * @see https://json-schema.org/draft/2020-12/json-schema-core#section-8.2.1
 */
export function addressed(root: JsonObject, reference: string): JsonObject | undefined {
  return namesIn(root).addresses.get(addressIn(root, reference));
}

function addressIn({ $id }: JsonObject, written: string): string {
  const text = written.replace(/#$/, '');
  const base = typeof $id === 'string' ? $id : undefined;
  return URL.canParse(text, base) ? new URL(text, base).href : text;
}

function namesIn(root: JsonObject): { anchors: Named; addresses: Named } {
  const names = NAMES.get(root) ?? readNames(root);
  NAMES.set(root, names);
  return names;
}

/** Every value is visited twice at most: a schema has at most `limits.values`. */
function readNames(root: JsonObject): { anchors: Named; addresses: Named } {
  const anchors: Named = new Map();
  const addresses: Named = new Map();
  const add = (named: Named, name: string, schema: JsonObject) => named.set(name, named.has(name) ? undefined : schema);
  const waiting: JsonValue[] = [root];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (isObject(next)) {
      // names below another address are relative to that one
      if (next !== root && hasAddress(next)) {
        const { $id } = next;
        if (typeof $id === 'string' && !refers(next)) add(addresses, addressIn(root, $id), next);
        continue;
      }
      for (const name of namesOf(next)) add(anchors, name, next);
    }
    for (const [key, inner] of Object.entries(next as JsonObject)) {
      if (typeof inner === 'object' && inner !== null && !OF_DATA.has(key)) waiting.push(inner);
    }
  }
  return { anchors, addresses };
}

/** Whether there is a reference, or another address, below a schema. */
function refers(schema: JsonObject): boolean {
  const waiting: JsonValue[] = [schema];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (isObject(next) && (REFERRING.some((word) => next[word] !== undefined) || (next !== schema && hasAddress(next))))
      return true;
    for (const inner of Object.values(next as JsonObject)) {
      if (typeof inner === 'object' && inner !== null) waiting.push(inner);
    }
  }
  return false;
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
