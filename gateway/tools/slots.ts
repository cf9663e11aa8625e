import type { Dialect } from '../ports/dialect.js';
import type { FileArgument, FileSlot, ToolSettings } from '../ports/file-slot.js';
import type { JsonObject } from '../ports/json.js';
import { PathKeys, segmentsOf } from '../schema/argument-path.js';

/** Most slots of one tool: each costs work whenever the tool is listed, and real tools have far fewer. */
const MAX_SLOTS = 100;

/** The file slots of a tool: first the operator's, then those of its own declaration, dialect by dialect. */
export function slotsOf(
  tool: JsonObject,
  settings: ToolSettings | undefined,
  dialects: readonly Dialect[],
): FileSlot[] {
  const slots = new Map<string, FileSlot>();
  const keys = new PathKeys();
  const add = (slot: FileSlot) => {
    const key = keys.of(slot.path);
    if (slots.size < MAX_SLOTS && !slots.has(key) && !slot.path.includes('__proto__')) slots.set(key, slot);
  };
  for (const argument of settings?.files ?? []) add(configuredSlot(argument));
  for (const dialect of dialects) for (const slot of dialect.slotsOf?.(tool) ?? []) add(slot);
  return [...slots.values()];
}

function configuredSlot({ path, encoding, template, accept, maxSize, name, mimeType, size }: FileArgument): FileSlot {
  return {
    path: segmentsOf(path),
    declaredBy: 'config',
    deliveries: [{ kind: 'encoded', encoding, ...(template === undefined ? {} : { template }) }],
    companions: { ...(name && { name }), ...(mimeType && { mimeType }), ...(size && { size }) },
    ...(accept && { accept }),
    ...(maxSize !== undefined && { maxSize }),
  };
}
