import { isObject } from '../json/value.js';
import type { JsonObject, JsonPatch, JsonValue } from '../ports/json.js';
import { EACH } from './argument-path.js';
import { placeOf } from './place.js';

/** Keywords that may refuse a member or an item which they do not name. */
const CLOSING = [
  ...['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else', '$ref', '$dynamicRef', '$recursiveRef'],
  ...['const', 'enum', 'patternProperties', 'propertyNames', 'maxProperties', 'unevaluatedProperties'],
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
    if (!isOpen(schema, step)) return [];
    const added = schemaOf(below);
    if (step === EACH) return [...copies, { path: [...at, 'items'], value: added }];
    const place = isObject(schema.properties)
      ? { path: [...at, 'properties', step], value: added }
      : { path: [...at, 'properties'], value: { [step]: added } };
    return [...copies, place];
  }
  return [];
}

/** True where a value of this schema may have a member of any name, or any items. */
function isOpen(schema: JsonObject, step: string): boolean {
  const types = [schema.type ?? []].flat();
  if (CLOSING.some((word) => schema[word] !== undefined)) return false;
  if (step === EACH) return (types.length === 0 || types.includes('array')) && saysNothing(schema.items);
  if (types.length > 0 && !types.includes('object')) return false;
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
