import { isObject } from '../json/value.js';
import type { Dialect } from '../ports/dialect.js';
import type { FileSlot } from '../ports/file-slot.js';
import type { JsonObject } from '../ports/json.js';
import { isString, placeOf } from '../schema/place.js';

/** A tool with one argument, to ask the dialects about that. */
const PROBE = 'argument';

/** True when a tool takes another text in the place of a file, as in a union of base64 and an address. */
export function takesOtherText(tool: JsonObject, { path }: FileSlot, dialects: readonly Dialect[]): boolean {
  const { beside = [] } = placeOf(tool, path) ?? {};
  return beside.some((branch) => isObject(branch) && isString(branch) && !isFile(branch, dialects));
}

function isFile(schema: JsonObject, dialects: readonly Dialect[]): boolean {
  const tool = { inputSchema: { type: 'object', properties: { [PROBE]: schema } } };
  return dialects.some((dialect) => (dialect.slotsOf?.(tool) ?? []).length > 0);
}
