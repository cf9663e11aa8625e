import { patchValue } from '../json/patch.js';
import { isObject } from '../json/value.js';
import type { JsonObject } from '../ports/json.js';
import { argumentOf } from '../schema/argument-path.js';
import { isAlwaysRequired } from '../schema/levels.js';
import { placeOf } from '../schema/place.js';
import { isSpecial } from '../schema/segments.js';

/** A slot that a call must fill whenever it has the object around it. */
export interface Required {
  /** Every call must have that object too. */
  always: boolean;
  /** Null is a valid value. Where it is not, a model that writes null has no file. */
  takesNull: boolean;
}

/** Whether a tool requires a slot. Only the items of an array require a slot below it. */
export function requiredOf(tool: JsonObject, slot: readonly string[]): Required | undefined {
  const path = argumentOf(slot);
  const key = path.at(-1);
  if (key === undefined || path.some(isSpecial)) return undefined;
  const parent = path.length === 1 ? tool.inputSchema : placeOf(tool, path.slice(0, -1))?.schema;
  if (!isObject(parent) || !Array.isArray(parent.required) || !parent.required.includes(key)) return undefined;
  const schema = isObject(parent.properties) ? parent.properties[key] : undefined;
  return { always: isAlwaysDue(tool, path), takesNull: !isObject(schema) || mayBeNull(schema) };
}

/** A schema without a single type may allow anything. */
function mayBeNull({ type, nullable }: JsonObject): boolean {
  return typeof type !== 'string' || type === 'null' || nullable === true;
}

function isAlwaysDue(tool: JsonObject, path: readonly string[]): boolean {
  const place = placeOf(tool, path);
  return place !== undefined && isAlwaysRequired(patchValue(tool, place.copies), place.at);
}
