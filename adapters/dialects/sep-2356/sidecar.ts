import { isObject, own } from '../../../gateway/json/value.js';
import type { ClientFacts } from '../../../gateway/ports/client.js';
import type { JsonObject, JsonPatch, JsonValue, ShownSlot } from '../../../gateway/ports/dialect.js';
import { budgetOfTool } from '../../../gateway/schema/budget.js';
import { type Shape, shapeOf } from '../common/text-shape.js';
import { takesInline } from '../common/transfer-modes.js';
import { type Descriptor, descriptorOf, readDescriptor } from './keyword.js';

/** Member of a tool that names its file arguments (2026-03-04 to 2026-03-26). */
export const SIDECAR = 'inputFiles';

interface Entry {
  name: string;
  shape: Shape;
  descriptor: Descriptor;
}

/** The arguments that `inputFiles` names. An entry for a missing argument, or one of another shape, is ignored. */
export function sidecarEntries(tool: JsonObject): Entry[] {
  const { [SIDECAR]: sidecar, inputSchema } = tool;
  if (!isObject(sidecar)) return [];
  const budget = budgetOfTool();
  return Object.entries(sidecar).flatMap(([name, value]) => {
    const descriptor = isForeign(value) ? undefined : readDescriptor(value);
    const shape = shapeOf(propertyOf(inputSchema, name), inputSchema, budget);
    return descriptor && shape ? [{ name, shape, descriptor }] : [];
  });
}

/** True for clients that know `inputFiles` and the errors of that revision. */
export function knowsSidecar({ capabilities, dialects }: ClientFacts): boolean {
  const { fileInputs } = capabilities;
  return isObject(fileInputs) || fileInputs === true || dialects?.includes('sep-2356') === true;
}

/** `inputFiles` as a client may see it: Wharf's own for clients that declared it, none for others. */
export function showSidecar(tool: JsonObject, slots: readonly ShownSlot[], client: ClientFacts): JsonPatch[] {
  const before = tool[SIDECAR];
  const shown: JsonObject = isObject(before) ? foreignEntries(before, tool.inputSchema) : {};
  for (const slot of knowsSidecar(client) ? slots : []) {
    const name = topLevelName(slot);
    if (name !== undefined) shown[name] = descriptorOf(slot.slot.accept, slot.maxInline);
  }
  const after = Object.keys(shown).length > 0 ? shown : undefined;
  return JSON.stringify(after) === JSON.stringify(before) ? [] : [{ path: [SIDECAR], value: after }];
}

/** Name of a top-level argument that is a string or a list of strings. */
function topLevelName({ name, slot, at, schema }: ShownSlot): string | undefined {
  const expected = ['inputSchema', 'properties', name, ...(slot.path.at(-1) === '[]' ? ['items'] : [])];
  const isPlain = schema.type === 'string' && at.length === expected.length;
  return name !== '__proto__' && isPlain && takesInline(slot) ? name : undefined;
}

/** SEP-2631 once used the same member, for objects. */
function foreignEntries(sidecar: JsonObject, inputSchema: JsonValue | undefined): JsonObject {
  return Object.fromEntries(
    Object.entries(sidecar).filter(([name, value]) => {
      const property = propertyOf(inputSchema, name);
      return isForeign(value) || (isObject(property) && property.type === 'object');
    }),
  );
}

function isForeign(entry: JsonValue): boolean {
  return isObject(entry) && (entry.maxFileSize !== undefined || entry.purpose !== undefined);
}

function propertyOf(inputSchema: JsonValue | undefined, name: string): JsonValue | undefined {
  return isObject(inputSchema) && isObject(inputSchema.properties) ? own(inputSchema.properties, name) : undefined;
}
