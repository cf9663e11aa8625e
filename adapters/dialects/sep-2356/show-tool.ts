import { isObject, valueAt } from '../../../gateway/json/value.js';
import type { ClientFacts } from '../../../gateway/ports/client.js';
import type { JsonObject, JsonPatch, JsonPath, JsonValue, ShownSlot } from '../../../gateway/ports/dialect.js';
import { stepsAt } from '../../../gateway/schema/levels.js';
import { takesInline } from '../common/transfer-modes.js';
import { descriptorOf, KEYWORD, KEYWORDS, OLD_KEYWORD, readDescriptor } from './keyword.js';
import { showSidecar } from './sidecar.js';

/** Malformed keywords that are looked for in one tool. */
const MAX_MALFORMED = 100;

/** Schemas nest; deeper arguments are not filled in practice. */
const MAX_DEPTH = 64;

/**
 * Shows every file argument to every client as a URI with the keyword, which other clients ignore, except hosts that fail
 * because of it. Removes keywords that are malformed or in a place where none is allowed.
 */
export function showTool(tool: JsonObject, slots: readonly ShownSlot[], client: ClientFacts): JsonPatch[] {
  const shown = slots.map((slot) => ({ slot, patches: showSlot(tool, slot, client) }));
  const typed = shown.map(({ slot, patches }) => ({
    ...slot,
    schema: { ...slot.schema, ...typeIn(patches, slot.at) },
  }));
  return [...withoutMalformed(tool), ...shown.flatMap(({ patches }) => patches), ...showSidecar(tool, typed, client)];
}

function showSlot(
  tool: JsonObject,
  { slot, at, schema, maxSize, maxInline, ...shown }: ShownSlot,
  { host }: ClientFacts,
): JsonPatch[] {
  const patches: JsonPatch[] = [];
  const set = (path: JsonPath, key: string, value: JsonValue | undefined) => {
    const before = valueAt(tool, [...path, key]);
    if (JSON.stringify(before) !== JSON.stringify(value)) patches.push({ path: [...path, key], value });
  };
  const places = schemasOn(at);
  if (!mustTakeNull(tool, at, schema)) set(at, 'type', 'string');
  const isPlain = host?.fileArguments === 'plain';
  set(at, 'format', isPlain ? undefined : 'uri');
  const before = schema[KEYWORD];
  const hadModes = isObject(before) && before.transferModes !== undefined;
  // Wharf cannot upload to a server that names its own modes, unless a dialect says how
  const modes = slot.transferModes ?? (hadModes ? ['inline'] : undefined);
  const descriptor = descriptorOf(slot.accept, takesInline(slot) ? maxInline : maxSize);
  set(at, KEYWORD, isPlain ? undefined : { ...descriptor, ...(modes && { transferModes: [...modes] }) });
  set(at, OLD_KEYWORD, undefined);
  const property = places.findLastIndex(({ by }) => by === 'properties');
  for (const { path } of places.slice(property, -1)) for (const name of KEYWORDS) set(path, name, undefined);
  const items = places.findLast(({ by }) => by === 'items');
  if (items && shown.lacksMaxItems) set(items.path.slice(0, -1), 'maxItems', shown.maxItems);
  return patches;
}

/** Only a string may have the keyword; a required argument that may be null stays as it is. */
function mustTakeNull(tool: JsonObject, at: JsonPath, { type }: JsonObject): boolean {
  if (!Array.isArray(type) || !type.includes('string') || !type.includes('null') || at.at(-2) !== 'properties') {
    return false;
  }
  const required = valueAt(tool, [...at.slice(0, -2), 'required']);
  return Array.isArray(required) && required.includes(at.at(-1) as string);
}

/** The schemas on the way to one, each with the keyword that led to it. */
function schemasOn(at: JsonPath): { path: JsonPath; by: string }[] {
  const places: { path: JsonPath; by: string }[] = [];
  for (let index = 1; index < at.length; ) {
    const by = String(at[index]);
    const steps = stepsAt(at, index);
    index += steps;
    // one item's schema is not that of a list
    places.push({ path: at.slice(0, index), by: by === 'items' && steps > 1 ? 'prefixItems' : by });
  }
  return places;
}

function typeIn(patches: readonly JsonPatch[], at: JsonPath): JsonObject {
  const found = patches.find(({ path }) => path.length === at.length + 1 && path.at(-1) === 'type');
  return found?.value === undefined ? {} : { type: found.value };
}

function withoutMalformed(tool: JsonObject): JsonPatch[] {
  const patches: JsonPatch[] = [];
  const walk = (node: JsonValue | undefined, path: JsonPath): void => {
    if (!isObject(node) || path.length > MAX_DEPTH || patches.length >= MAX_MALFORMED) return;
    for (const name of KEYWORDS) {
      if (node[name] !== undefined && !readDescriptor(node[name])) {
        patches.push({ path: [...path, name], value: undefined });
      }
    }
    for (const key of ['items', 'additionalProperties', 'then', 'else']) walk(node[key], [...path, key]);
    for (const group of ['properties', 'patternProperties', 'dependentSchemas', '$defs', 'definitions']) {
      const members = node[group];
      if (isObject(members)) for (const [key, child] of Object.entries(members)) walk(child, [...path, group, key]);
    }
    for (const list of ['anyOf', 'oneOf', 'allOf', 'prefixItems', 'items']) {
      const branches = node[list];
      if (Array.isArray(branches)) for (const [index, child] of branches.entries()) walk(child, [...path, list, index]);
    }
  };
  walk(tool.inputSchema, ['inputSchema']);
  return patches.filter(({ path }) => !path.includes('__proto__'));
}
