import { isObject, own } from '../../json/value.js';
import { isTakenFor, PROTOTYPE } from '../../policy/pattern.js';
import type { JsonObject, JsonPath, JsonValue } from '../../ports/json.js';
import { argumentOf, EACH, isEach } from '../../schema/argument-path.js';
import { isSpecial } from '../../schema/segments.js';
import { patternsOfCall, stepsOf } from '../../schema/steps.js';
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
  const steps = stepsOf(slot.path);
  const isList = isEach(slot.path);
  const names = patternsOfCall();
  function* walk(value: JsonValue | undefined, at: number, path: JsonPath): Generator<SlotUse> {
    if (value === undefined || value === null) return;
    const step = steps[at];
    if (step === undefined) {
      if (!isOther(value, slot)) yield { slot, path, value, wrap: false };
      return;
    }
    const isOfFiles = isList && at === steps.length - 1;
    if (isOfFiles && !step.fits(value)) {
      if (!slot.hasSingleForm && slot.before === undefined) yield { slot, path, value, wrap: true };
      return;
    }
    const { before = 0 } = isOfFiles ? slot : {};
    for (const [key, inner, isDoubtful] of step.in(value, names)) {
      if (isDoubtful) continue;
      if (typeof key === 'string' || key >= before) yield* walk(inner, at + 1, [...path, key]);
    }
  }
  yield* walk(args, 0, []);
}

/** What stands in a call where a file may be that is not in the slot. */
export interface Stray {
  path: JsonPath;
  value: JsonValue;
  /** It is a member of which it is not known whether the slot means it. */
  isDoubtful: boolean;
}

/**
 * What stands in a call on the way to a slot in place of the object or the list that the way has, or has a doubtful name, or its
 * name in other letters.
 */
export function* strayIn(args: JsonObject, slot: ToolSlot): Generator<Stray> {
  const steps = stepsOf(slot.path);
  // one file in place of the list is not stray
  const end = argumentOf(slot.path).length;
  const names = patternsOfCall();
  function* walk(value: JsonValue | undefined, at: number, path: JsonPath): Generator<Stray> {
    const step = steps[at];
    if (value === undefined || value === null || step === undefined) return;
    if (at < end && !step.fits(value)) yield { path, value, isDoubtful: false };
    yield* inOtherLetters(value, slot.path[at], path);
    for (const [key, inner, isDoubtful] of step.in(value, names)) {
      if (isDoubtful) yield { path: [...path, key], value: inner, isDoubtful };
      else yield* walk(inner, at + 1, [...path, key]);
    }
  }
  yield* walk(args, 0, []);
}

/** Members that some servers take for the one of this name. */
function* inOtherLetters(value: JsonValue, name: string | undefined, path: JsonPath): Generator<Stray> {
  if (name === undefined || name === EACH || isSpecial(name) || !isObject(value)) return;
  for (const key in value) {
    if (key === PROTOTYPE || isTakenFor(key, name))
      yield { path: [...path, key], value: value[key] ?? null, isDoubtful: false };
  }
}
