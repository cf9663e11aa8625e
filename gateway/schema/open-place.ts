import { isDeepStrictEqual } from 'node:util';
import { patchValue } from '../json/patch.js';
import { isObject } from '../json/value.js';
import type { JsonObject, JsonPatch, JsonValue } from '../ports/json.js';
import { withoutNames } from './anchors.js';
import { EACH } from './argument-path.js';
import { placeOf } from './place.js';

/** Keywords that may refuse a member or an item which they do not name. */
const CLOSING = [
  ...['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else', '$ref', '$dynamicRef', '$recursiveRef'],
  ...['const', 'enum', 'patternProperties', 'maxProperties', 'unevaluatedProperties'],
  ...['dependentSchemas', 'prefixItems', 'unevaluatedItems'],
] as const;

/**
 * What is added to a tool whose schema leaves open what is on the way to a slot, so that clients are shown the slot too.
 * Nothing where the schema names it, or may refuse it.
 */
export function opened(tool: JsonObject, slot: readonly string[]): JsonPatch[] {
  for (let length = slot.length - 1; length >= 0; length--) {
    const found = placeOf(tool, slot.slice(0, length));
    if (!found) continue;
    const { at, schema, copies } = found;
    const [step = '', ...below] = slot.slice(length);
    // what is around one part of an `allOf` may refuse what that leaves open
    if (at.some((key, index) => key === 'allOf' && typeof at[index + 1] === 'number')) return [];
    if (step === EACH)
      return isOpen(schema, step) ? [...copies, { path: [...at, 'items'], value: schemaOf(below) }] : [];
    const member = (value: JsonObject): JsonPatch[] => [
      ...copies,
      isObject(schema.properties)
        ? { path: [...at, 'properties', step], value }
        : { path: [...at, 'properties'], value: { [step]: value } },
    ];
    const described = othersOf(schema, step);
    if (described) return withRest(tool, slot, member(described));
    return isOpen(schema, step) ? member(schemaOf(below)) : [];
  }
  return [];
}

/** @param patches name the next step of the way, whose schema may leave open what is behind it */
function withRest(tool: JsonObject, slot: readonly string[], patches: JsonPatch[]): JsonPatch[] {
  const named = patchValue(tool, patches);
  if (placeOf(named, slot)) return patches;
  const rest = opened(named, slot);
  return rest.length === 0 ? [] : [...patches, ...rest];
}

/** What a schema says of all members that it does not name: it means the same of one that it names. */
function othersOf(schema: JsonObject, step: string): JsonObject | undefined {
  const { properties, additionalProperties: rest } = schema;
  if (!isObject(rest) || saysNothing(rest) || !mayTake(schema, 'object')) return undefined;
  return isObject(properties) && Object.hasOwn(properties, step) ? undefined : (withoutNames(rest) as JsonObject);
}

/** True where nothing else of a schema refuses a member or an item. */
function mayTake(schema: JsonObject, type: string): boolean {
  const types = [schema.type ?? []].flat();
  return (
    (types.length === 0 || types.includes(type)) &&
    CLOSING.every((word) => schema[word] === undefined) &&
    isAnyName(schema.propertyNames)
  );
}

/** Names are texts, as zod says of those of a record. */
function isAnyName(names: JsonValue | undefined): boolean {
  return saysNothing(names) || isDeepStrictEqual(names, { type: 'string' });
}

/** True where a value of this schema may have a member of any name, or any items. */
function isOpen(schema: JsonObject, step: string): boolean {
  if (step === EACH) return mayTake(schema, 'array') && saysNothing(schema.items);
  if (!mayTake(schema, 'object')) return false;
  const { properties, additionalProperties: rest } = schema;
  // an object that names its members and says nothing of others mostly ignores them
  return isObject(properties) ? !Object.hasOwn(properties, step) && rest === true : saysNothing(rest);
}

function saysNothing(schema: JsonValue | undefined): boolean {
  return schema === undefined || schema === true || (isObject(schema) && Object.keys(schema).length === 0);
}

function schemaOf([step, ...below]: readonly string[]): JsonObject {
  if (step === undefined) return { type: 'string' };
  if (step === EACH) return { type: 'array', items: schemaOf(below) };
  return { type: 'object', properties: { [step]: schemaOf(below) } };
}
