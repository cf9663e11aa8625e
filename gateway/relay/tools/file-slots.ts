import { isObject, own } from '../../json/value.js';
import type { JsonObject, JsonPath, JsonValue } from '../../ports/json.js';
import { EACH } from '../../schema/argument-path.js';
import { isMembers, isSpecial, itemIn, MemberNames } from '../../schema/segments.js';
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
  return key === undefined || isSpecial(key) || rest.length > 0 ? valuesBelow(args, slot) : valueAtTop(args, key, slot);
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
    } else if (isSpecial(segment)) {
      for (const [key, inner] of innerOf(value, segment, slot)) yield* walk(inner, at + 1, [...path, key]);
    } else if (isObject(value) && Object.hasOwn(value, segment)) {
      yield* walk(value[segment], at + 1, [...path, segment]);
    }
  }
  yield* walk(args, 0, []);
}

/** By slot and segment: it may have patterns, and each call asks three times. */
const NAMES = new WeakMap<readonly string[], Map<string, MemberNames>>();

/** What a segment that has no name means in a value: members, or one item. */
function innerOf(value: JsonValue, segment: string, { path }: ToolSlot): Iterable<[string | number, JsonValue]> {
  const item = itemIn(segment);
  if (item !== undefined) return Array.isArray(value) && item < value.length ? [[item, value[item] ?? null]] : [];
  if (!isMembers(segment) || !isObject(value)) return [];
  const known = NAMES.get(path) ?? new Map<string, MemberNames>();
  NAMES.set(path, known);
  const names = known.get(segment) ?? new MemberNames(segment);
  known.set(segment, names);
  return names.in(value);
}

/** What stands in a call on the way to a slot in place of the object or the list that the way has: the slot is not in it. */
export function* strayIn(args: JsonObject, slot: ToolSlot): Generator<{ path: JsonPath; value: JsonValue }> {
  function* walk(
    value: JsonValue | undefined,
    at: number,
    path: JsonPath,
  ): Generator<{ path: JsonPath; value: JsonValue }> {
    const segment = slot.path[at];
    if (value === undefined || value === null || segment === undefined) return;
    if (segment === EACH && Array.isArray(value)) {
      for (const [index, item] of value.entries()) yield* walk(item, at + 1, [...path, index]);
    } else if (segment !== EACH && isSpecial(segment)) {
      const isFit = isMembers(segment) ? isObject(value) : Array.isArray(value);
      if (!isFit) yield { path, value };
      for (const [key, inner] of innerOf(value, segment, slot)) yield* walk(inner, at + 1, [...path, key]);
    } else if (segment !== EACH && isObject(value)) yield* walk(own(value, segment), at + 1, [...path, segment]);
    else if (segment !== EACH || at < slot.path.length - 1) yield { path, value };
  }
  yield* walk(args, 0, []);
}
