import { GatewayError } from '../../errors.js';
import { patchValue } from '../../json/patch.js';
import { isObject, valueAt } from '../../json/value.js';
import type { ClientFacts } from '../../ports/client.js';
import type { Dialect } from '../../ports/dialect.js';
import type { FileSlot } from '../../ports/file-slot.js';
import type { JsonObject, JsonPatch, JsonPath, JsonValue } from '../../ports/json.js';
import { EACH, spell } from '../../schema/argument-path.js';
import { addAll } from '../../wire/add-all.js';

/** Where the names of arguments stand in a tool. */
const TOP: JsonPath = ['inputSchema', 'properties'];

/** Whether the client looks for files among a tool's top-level arguments only. */
export function liftsArguments(client: ClientFacts, dialects: readonly Dialect[]): boolean {
  return dialects.some((dialect) => dialect.liftsArguments?.(client) ?? false);
}

/**
 * The slots, each nested one with the name under which such a client hands its file over: `doc.payload.data` is
 * `doc_payload_data`. One in the items of an array stays where it is, for a name would not say in which of them.
 */
export function withLiftedNames(tool: JsonObject, slots: readonly FileSlot[]): FileSlot[] {
  const properties = valueAt(tool, TOP);
  const taken = new Set(isObject(properties) ? Object.keys(properties) : []);
  return slots.map((slot) => {
    const way = wayTo(slot);
    if (way.length < 2 || way.includes(EACH)) return slot;
    const lifted = freeName(way.join('_').replaceAll(/[^\w.-]/g, '_'), taken);
    taken.add(lifted);
    return { ...slot, lifted };
  });
}

function freeName(name: string, taken: ReadonlySet<string>): string {
  for (let number = 2, free = name; ; number++) {
    if (!taken.has(free) && free !== '__proto__') return free;
    free = `${name}_${number}`;
  }
}

/** What a client calls the value at `path`, for refusals. */
export function calledAs({ lifted, path: of }: FileSlot, path: JsonPath, lifts: boolean): string {
  const length = of.at(-1) === EACH ? of.length - 1 : of.length;
  return spell(lifts && lifted !== undefined ? [lifted, ...path.slice(length)] : path);
}

/**
 * Moves a slot's schema to the top level of a tool. Objects above it that have nothing left in them go, and those that
 * had to be there for its sake only need not be any more: they are made again with the call.
 * @param at where the schema stands; no reference is on the way any more
 * @returns what has to change below the tool, and where the schema stands then
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

/** Whether a tool cannot be called without what stands at this place of its schema: nor without any object above it. */
export function isAlwaysRequired(tool: JsonObject, at: JsonPath): boolean {
  const levels = levelsOf(at);
  // an object that may as well be null need not be there
  const hasUnion = (levels.at(-1)?.object.length ?? 0) !== levels.length * 2 - 1;
  return !hasUnion && levels.every(({ object, key }) => requiredIn(tool, object).includes(key));
}

/**
 * What has to change in a call's arguments so that lifted ones stand where the server takes them.
 * @throws GatewayError `params_invalid` when something else stands in their way
 */
export function putBack(args: JsonObject, slots: readonly FileSlot[]): JsonPatch[] {
  const patches: JsonPatch[] = [];
  let seen = args;
  for (const slot of slots) {
    const { lifted } = slot;
    if (lifted === undefined || !Object.hasOwn(args, lifted)) continue;
    const moved = [{ path: [lifted], value: undefined }, ...placed(seen, wayTo(slot), args[lifted] ?? null, lifted)];
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
      // no file at all makes no object
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

/** The way to the argument itself: of several files it is the array. */
function wayTo({ path }: FileSlot): readonly string[] {
  return path.at(-1) === EACH ? path.slice(0, -1) : path;
}

/** An object of a schema, and which of its members leads on. */
interface Level {
  object: JsonPath;
  key: string;
}

function levelsOf(at: JsonPath): Level[] {
  const levels: Level[] = [];
  for (let index = 1; index < at.length; ) {
    const word = at[index];
    if (word === 'properties') levels.push({ object: at.slice(0, index), key: String(at[index + 1]) });
    // a member and a union are followed by which of them
    index += word === 'items' ? 1 : 2;
  }
  return levels;
}

function requiredIn(tool: JsonObject, object: JsonPath): JsonValue[] {
  const required = valueAt(tool, [...object, 'required']);
  return Array.isArray(required) ? required : [];
}
