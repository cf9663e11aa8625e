import { isObject, own } from '../../json/value.js';
import type { JsonObject, JsonPath, JsonValue } from '../../ports/json.js';
import { EACH, MEMBERS } from '../../schema/argument-path.js';
import type { ToolSlot } from '../../tools/tool.js';

/** A value in a slot of a call. */
export interface SlotUse {
  slot: ToolSlot;
  /** Below the arguments. */
  path: JsonPath;
  value: JsonValue;
  /** A single file in place of an array of files: it is sent as an array of one. */
  wrap: boolean;
}

/**
 * The values of a call in a slot, one by one, because there may be millions. Null and an absent argument do not count.
 */
export function valuesIn(args: JsonObject, slot: ToolSlot): Iterable<SlotUse> {
  const [key, ...rest] = slot.path;
  return key === undefined || key === EACH || rest.length > 0 ? valuesBelow(args, slot) : valueAtTop(args, key, slot);
}

/** A list in place of one file, of a tool that takes both: its items are in the other slot. */
function isOther(value: JsonValue, { hasListForm }: ToolSlot): boolean {
  return hasListForm === true && Array.isArray(value);
}

/** Most slots are one argument: each call asks three times, and a generator costs as much as parsing the call. */
function valueAtTop(args: JsonObject, key: string, slot: ToolSlot): SlotUse[] {
  const value = own(args, key);
  if (value === undefined || value === null || isOther(value, slot)) return [];
  return [{ slot, path: [key], value, wrap: false }];
}

function* valuesBelow(args: JsonObject, slot: ToolSlot): Generator<SlotUse> {
  function* walk(value: JsonValue | undefined, at: number, path: JsonPath): Generator<SlotUse> {
    if (value === undefined || value === null) return;
    const segment = slot.path[at];
    if (segment === undefined) {
      if (!isOther(value, slot)) yield { slot, path, value, wrap: false };
    } else if (segment === EACH && Array.isArray(value)) {
      const { before = 0 } = at === slot.path.length - 1 ? slot : {};
      for (const [index, item] of value.entries()) if (index >= before) yield* walk(item, at + 1, [...path, index]);
    } else if (segment === EACH && at === slot.path.length - 1) {
      if (!slot.hasSingleForm && slot.before === undefined) yield { slot, path, value, wrap: true };
    } else if (segment === MEMBERS && isObject(value)) {
      for (const [key, member] of membersOf(value)) yield* walk(member, at + 1, [...path, key]);
    } else if (segment !== EACH && isObject(value) && Object.hasOwn(value, segment)) {
      yield* walk(value[segment], at + 1, [...path, segment]);
    }
  }
  yield* walk(args, 0, []);
}

/** A member named `__proto__` cannot be replaced by its path. */
function membersOf(map: JsonObject): [string, JsonValue][] {
  return Object.entries(map).filter(([key]) => key !== '__proto__');
}

/** What stands in a call on the way to a slot in place of the object or the list that the way has: the slot is not in it. */
export function* strayIn(args: JsonObject, { path: way }: ToolSlot): Generator<{ path: JsonPath; value: JsonValue }> {
  function* walk(
    value: JsonValue | undefined,
    at: number,
    path: JsonPath,
  ): Generator<{ path: JsonPath; value: JsonValue }> {
    const segment = way[at];
    if (value === undefined || value === null || segment === undefined) return;
    if (segment === EACH && Array.isArray(value)) {
      for (const [index, item] of value.entries()) yield* walk(item, at + 1, [...path, index]);
    } else if (segment === MEMBERS && isObject(value)) {
      for (const [key, member] of membersOf(value)) yield* walk(member, at + 1, [...path, key]);
    } else if (segment !== EACH && isObject(value)) yield* walk(own(value, segment), at + 1, [...path, segment]);
    else if (segment !== EACH || at < way.length - 1) yield { path, value };
  }
  yield* walk(args, 0, []);
}
