import { isObject } from '../json/value.js';
import type { FileSlot } from '../ports/file-slot.js';
import type { JsonObject, JsonPatch, JsonPath, JsonValue } from '../ports/json.js';
import { EACH } from './argument-path.js';

/** A chain of local references may refer to itself, and each may be a large object that is copied. */
const MAX_STEPS = 16;

/** What a reference leads to is copied for each slot: characters and values of what is no more than an argument's schema. */
const MAX_COPY = 64 * 1024;
const MAX_COPIED_VALUES = 1000;

/** A reference is a name and where names stand. */
const MAX_REFERENCE = 512;

/** Whether a schema is small enough to be copied: it is asked for each slot, and for each of its siblings. */
const SMALL = new WeakMap<JsonObject, boolean>();

/** In which a schema may stand one level deeper; an `allOf` of one is how pydantic describes a reference. */
const UNIONS = ['anyOf', 'oneOf', 'allOf'] as const;

/** Where the schema of a slot stands in a tool. */
export interface SchemaPlace {
  at: JsonPath;
  schema: JsonObject;
  /** Local references on the way, replaced by copies: what is shared stays as it is elsewhere. */
  copies: JsonPatch[];
}

/** How many items a tool says the array of a slot takes, as far as it says so. */
export function itemCountsOf(tool: JsonObject, slot: readonly string[]): Pick<FileSlot, 'minItems' | 'maxItems'> {
  if (slot.at(-1) !== EACH) return {};
  const { minItems, maxItems } = placeOf(tool, slot.slice(0, -1))?.schema ?? {};
  return { ...(isCount(minItems) && { minItems }), ...(isCount(maxItems) && { maxItems }) };
}

function isCount(value: JsonValue | undefined): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0;
}

/** The JSON types that a tool says the value of a slot may have; undefined where it does not say. */
export function typesOf(tool: JsonObject, slot: readonly string[]): ReadonlySet<string> | undefined {
  const [last = '', ...above] = slot.toReversed();
  const parent = above.length === 0 ? tool.inputSchema : placeOf(tool, above.toReversed())?.schema;
  if (!isObject(tool.inputSchema) || !isObject(parent)) return undefined;
  const root = tool.inputSchema;
  const types = new Set<string>();
  let steps = 0;
  const isKnown = (schema: JsonValue | undefined): boolean => {
    steps += 1;
    if (!isObject(schema) || steps > MAX_STEPS) return false;
    if (typeof schema.$ref === 'string') return isKnown(pointed(root, schema.$ref));
    const union = schema.anyOf ?? schema.oneOf;
    if (schema.type === undefined && Array.isArray(union)) return union.every(isKnown);
    const own = Array.isArray(schema.type) ? schema.type : [schema.type];
    for (const type of own) types.add(String(type));
    return schema.type !== undefined;
  };
  const members = isObject(parent.properties) ? parent.properties : {};
  const schema = last === EACH ? parent.items : Object.hasOwn(members, last) ? members[last] : undefined;
  return isKnown(schema) ? types : undefined;
}

/**
 * Finds a slot's schema in a tool's inputSchema: through `properties` and `items`, through the branch of a
 * union that leads there or is not null, and through local `$ref`s.
 */
export function placeOf(tool: JsonObject, slot: readonly string[]): SchemaPlace | undefined {
  if (!isObject(tool.inputSchema)) return undefined;
  const root = tool.inputSchema;
  const copies: JsonPatch[] = [];
  let at: JsonPath = ['inputSchema'];
  let schema: JsonObject = root;
  let steps = 0;
  const enter = (key: JsonPath, inner: JsonValue | undefined, next: string | undefined): boolean => {
    if (!isObject(inner)) return false;
    at = [...at, ...key];
    schema = inner;
    return resolve(next);
  };
  const resolve = (next: string | undefined): boolean => {
    for (; steps < MAX_STEPS; steps++) {
      if (typeof schema.$ref === 'string') {
        const target = pointed(root, schema.$ref);
        if (!isObject(target) || !isSmall(target)) return false;
        const { $ref: _, ...beside } = schema;
        schema = { ...target, ...beside };
        copies.push({ path: at, value: schema });
        continue;
      }
      const union = UNIONS.find((word) => Array.isArray(schema[word]));
      if (!union) return true;
      const branches = schema[union] as JsonValue[];
      const index = branchFor(next, branches, root);
      if (index < 0) return false;
      at = [...at, union, index];
      schema = branches[index] as JsonObject;
    }
    return false;
  };
  if (!resolve(slot[0])) return undefined;
  for (const [index, segment] of slot.entries()) {
    const next = slot[index + 1];
    const found =
      segment === EACH
        ? enter(['items'], schema.items, next)
        : enter(['properties', segment], isObject(schema.properties) ? schema.properties[segment] : undefined, next);
    if (!found) return undefined;
  }
  return { at, schema, copies };
}

/** Of a union, the branch on the way: one that goes on, or is a string at the end; else the first that is not null. */
function branchFor(next: string | undefined, branches: readonly JsonValue[], root: JsonObject): number {
  const leads = (branch: JsonValue): boolean => {
    const schema = isObject(branch) && typeof branch.$ref === 'string' ? pointed(root, branch.$ref) : branch;
    if (!isObject(schema)) return false;
    if (next === undefined) return schema.type === 'string';
    if (next === EACH) return isObject(schema.items);
    return isObject(schema.properties) && Object.hasOwn(schema.properties, next);
  };
  const index = branches.findIndex(leads);
  return index >= 0 ? index : branches.findIndex((branch) => isObject(branch) && branch.type !== 'null');
}

function isSmall(schema: JsonObject): boolean {
  const small = SMALL.get(schema) ?? measure(schema);
  SMALL.set(schema, small);
  return small;
}

function measure(schema: JsonObject): boolean {
  let room = MAX_COPY;
  let values = MAX_COPIED_VALUES;
  const look = (value: JsonValue | undefined): boolean => {
    values -= 1;
    room -= typeof value === 'string' ? value.length + 1 : 1;
    if (room < 0 || values < 0) return false;
    if (typeof value !== 'object' || value === null) return true;
    return Object.entries(value).every(([key, inner]) => {
      room -= key.length;
      return look(inner);
    });
  };
  return look(schema);
}

/** What a `#/…` reference points to. */
export function pointed(root: JsonObject, reference: string): JsonValue | undefined {
  // `#name` is an anchor, which may stand anywhere
  if (reference.length > MAX_REFERENCE || (reference !== '#' && !reference.startsWith('#/'))) return undefined;
  let value: JsonValue | undefined = root;
  for (const token of reference.slice(1).split('/').slice(1)) {
    if (value === undefined) return undefined;
    const key = percentDecoded(token).replaceAll('~1', '/').replaceAll('~0', '~');
    value = memberOf(value, key);
  }
  return value;
}

/** Also of an array, by its index as text. */
function memberOf(value: JsonValue | undefined, key: string): JsonValue | undefined {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
  return (value as JsonObject)[key];
}

function percentDecoded(token: string): string {
  try {
    return decodeURIComponent(token);
  } catch {
    return token;
  }
}
