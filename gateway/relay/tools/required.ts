import { patchValue } from '../../json/patch.js';
import { isObject } from '../../json/value.js';
import type { FileSlot } from '../../ports/file-slot.js';
import type { JsonObject } from '../../ports/json.js';
import { EACH } from '../../schema/argument-path.js';
import { placeOf } from '../../schema/place.js';
import { isAlwaysRequired } from './lifted-arguments.js';

/** A slot that must be filled where the object around it is there. */
export interface RequiredSlot {
  slot: FileSlot;
  /** That object must be there as well. */
  always: boolean;
  /** Null may be what fills it. Where the tool takes none, a model that writes one has no file. */
  takesNull: boolean;
}

/** The slots that a tool says it cannot do without. One below an array is asked for only by its items. */
export function requiredSlots(tool: JsonObject, slots: readonly FileSlot[]): RequiredSlot[] {
  return slots.flatMap((slot) => {
    const path = pathOf(slot);
    const key = path.at(-1);
    if (key === undefined || path.includes(EACH)) return [];
    const parent = path.length === 1 ? tool.inputSchema : placeOf(tool, path.slice(0, -1))?.schema;
    if (!isObject(parent) || !Array.isArray(parent.required) || !parent.required.includes(key)) return [];
    const schema = isObject(parent.properties) ? parent.properties[key] : undefined;
    return [{ slot, always: isAlwaysDue(tool, path), takesNull: !isObject(schema) || mayBeNull(schema) }];
  });
}

/** A schema that does not name one type may lead anywhere. */
function mayBeNull({ type, nullable }: JsonObject): boolean {
  return typeof type !== 'string' || type === 'null' || nullable === true;
}

function isAlwaysDue(tool: JsonObject, path: readonly string[]): boolean {
  const place = placeOf(tool, path);
  return place !== undefined && isAlwaysRequired(patchValue(tool, place.copies), place.at);
}

/** Of a slot in every item of an array the array itself: it is what is missing. */
export function pathOf({ path }: FileSlot): readonly string[] {
  return path.at(-1) === EACH ? path.slice(0, -1) : path;
}
