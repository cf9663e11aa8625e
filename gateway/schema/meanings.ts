import { isObject } from '../json/value.js';
import type { JsonObject, JsonValue } from '../ports/json.js';
import { Budget } from './budget.js';
import { followed, listOf } from './walk.js';

const MOST_REFERENCES = 16;
const MOST_BRANCHES = 8;
/** Nested unions. */
const MOST_UNIONS = 2;

/**
 * The meanings of a schema: each branch of its unions combined with the keywords around it, local references followed,
 * without null.
 */
export function meaningsOf(written: JsonValue | undefined, root: JsonObject, depth = 0): JsonObject[] {
  const schema = resolved(written, root);
  if (schema === undefined || schema.type === 'null') return [];
  const { anyOf, oneOf, allOf, ...own } = schema;
  const parts = listOf(allOf).slice(0, MOST_BRANCHES);
  const whole = parts.reduce<JsonObject>((sum, part) => merged(sum, resolved(part, root)), own);
  const union = [anyOf, oneOf].find((list): list is JsonValue[] => Array.isArray(list));
  if (union === undefined || depth === MOST_UNIONS) return [whole];
  return union.slice(0, MOST_BRANCHES).flatMap((branch) => {
    return meaningsOf(branch, root, depth + 1).map((one) => merged(whole, one));
  });
}

function resolved(written: JsonValue | undefined, root: JsonObject): JsonObject | undefined {
  const budget = new Budget(MOST_REFERENCES);
  return isObject(written) ? followed(written, root, () => budget.take()) : undefined;
}

function merged(a: JsonObject, b: JsonObject | undefined): JsonObject {
  if (b === undefined) return a;
  const properties = {
    ...(isObject(a.properties) ? a.properties : {}),
    ...(isObject(b.properties) ? b.properties : {}),
  };
  const said = [a.description, b.description].filter((text) => typeof text === 'string').join(' ');
  return {
    ...a,
    ...b,
    ...(Object.keys(properties).length > 0 ? { properties } : {}),
    ...(said ? { description: said } : {}),
  };
}
