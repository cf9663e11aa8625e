import { GatewayError } from '../../errors.js';
import { patchValue } from '../../json/patch.js';
import { isObject, valueAt } from '../../json/value.js';
import type { JsonObject, JsonPatch, JsonPath, JsonValue } from '../../ports/json.js';
import { argumentOf, spell } from '../../schema/argument-path.js';
import { isAlwaysRequired, type Level, levelsOf, requiredIn } from '../../schema/levels.js';
import type { ToolSlot } from '../../tools/tool.js';
import { addAll } from '../../wire/add-all.js';

/** Path of the argument names in a tool. */
const TOP: JsonPath = ['inputSchema', 'properties'];

/** The client's name for the value at `path`, for refusals. */
export function calledAs(slot: ToolSlot, path: JsonPath, lifts: boolean): string {
  return spell(writtenAt(slot, path, lifts));
}

/** The place where a client writes the value at `path`. */
export function writtenAt({ lifted, path: of }: ToolSlot, path: JsonPath, lifts: boolean): JsonPath {
  return lifts && lifted !== undefined ? [lifted, ...path.slice(argumentOf(of).length)] : path;
}

/**
 * Moves a slot's schema to the top level of a tool. Objects above it that become empty are removed, and those that were
 * required only because of it become optional: the call creates them again.
 * @param at path of the schema, without references on the way
 * @returns the changes, below the tool, and the new path of the schema
 */
export function liftSlot(tool: JsonObject, name: string, at: JsonPath): { patches: JsonPatch[]; at: JsonPath } {
  const levels = levelsOf(at);
  const end = levels.length === 0 ? 0 : (levels.at(-1) as Level).object.length + 2;
  const patches: JsonPatch[] = [];
  let seen = tool;
  const apply = (path: JsonPath, value: JsonValue | undefined) => {
    patches.push({ path, value });
    seen = patchValue(seen, [{ path, value }]);
  };
  const isRequired = isAlwaysRequired(tool, at);
  apply([...TOP, name], valueAt(tool, at.slice(0, end)));
  let isEmpty = true;
  let mayGo = true;
  for (const { object, key } of levels.toReversed()) {
    const required = requiredIn(seen, object);
    if (required.includes(key)) {
      if (!mayGo) break;
      const rest = required.filter((other) => other !== key);
      apply([...object, 'required'], rest.length > 0 ? rest : undefined);
    }
    if (isEmpty) apply([...object, 'properties', key], undefined);
    isEmpty &&= Object.keys(valueAt(seen, [...object, 'properties']) ?? {}).length === 0;
    mayGo = isRequired && requiredIn(seen, object).length === 0;
  }
  if (isRequired) apply(['inputSchema', 'required'], [...requiredIn(seen, ['inputSchema']), name]);
  return { patches, at: [...TOP, name, ...at.slice(end)] };
}

/**
 * The changes of a call's arguments that move lifted ones to where the server takes them.
 * @throws GatewayError `params_invalid` when another value is in their way
 */
export function putBack(args: JsonObject, slots: readonly ToolSlot[]): JsonPatch[] {
  const patches: JsonPatch[] = [];
  let seen = args;
  for (const slot of slots) {
    const { lifted } = slot;
    if (lifted === undefined || !Object.hasOwn(args, lifted)) continue;
    const moved = [
      { path: [lifted], value: undefined },
      ...placed(seen, argumentOf(slot.path), args[lifted] ?? null, lifted),
    ];
    addAll(patches, moved);
    seen = patchValue(seen, moved);
  }
  return patches;
}

function placed(args: JsonObject, way: readonly string[], value: JsonValue, lifted: string): JsonPatch[] {
  const set = { path: way, value };
  let parent = args;
  for (const [index, key] of way.slice(0, -1).entries()) {
    const child = Object.hasOwn(parent, key) ? parent[key] : undefined;
    if (child === undefined || child === null) {
      // without a file no object is created
      if (value === null) return [];
      return child === null ? [{ path: way.slice(0, index + 1), value: {} }, set] : [set];
    }
    if (!isObject(child)) {
      const text = `'${lifted}' belongs in '${spell(way.slice(0, index + 1))}', which is not an object`;
      throw new GatewayError('params_invalid', { text });
    }
    parent = child;
  }
  return [set];
}
