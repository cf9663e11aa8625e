import { isObject } from '../../json/value.js';
import type { ClientFacts } from '../../ports/client.js';
import type { Dialect } from '../../ports/dialect.js';
import type { FileArgument, FileSlot, ToolSettings } from '../../ports/file-slot.js';
import type { JsonObject, JsonPath, JsonValue } from '../../ports/json.js';
import { EACH, segmentsOf } from '../../schema/argument-path.js';

/** Slots of one tool: each costs work whenever the tool is listed, and no form has so many fields for files. */
const MAX_SLOTS = 100;

/** The file slots of a tool: what the operator configured, then what its own declaration says, dialect by dialect. */
export function slotsOf(
  tool: JsonObject,
  settings: ToolSettings | undefined,
  dialects: readonly Dialect[],
): FileSlot[] {
  const slots = new Map<string, FileSlot>();
  const add = (slot: FileSlot) => {
    const key = slot.path.join('.');
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

/** True when client and server spell a file in this slot alike, so that there is nothing to say in between. */
export function passesBetween(slot: FileSlot, client: ClientFacts, dialects: readonly Dialect[]): boolean {
  return dialects.find(({ name }) => name === slot.declaredBy)?.passes?.(client) ?? false;
}

/** A value that stands in a slot of a call. */
export interface SlotUse {
  slot: FileSlot;
  /** Below the arguments. */
  path: JsonPath;
  value: JsonValue;
  /** A single file in the place of an array of them: it goes out as an array of one. */
  wrap: boolean;
}

/** The values that a call has in a slot, one by one: there may be millions. Null and an absent argument are no values. */
export function* valuesIn(args: JsonObject, slot: FileSlot): Generator<SlotUse> {
  function* walk(value: JsonValue | undefined, at: number, path: JsonPath): Generator<SlotUse> {
    if (value === undefined || value === null) return;
    const segment = slot.path[at];
    if (segment === undefined) yield { slot, path, value, wrap: false };
    else if (segment === EACH && Array.isArray(value)) {
      for (const [index, item] of value.entries()) yield* walk(item, at + 1, [...path, index]);
    } else if (segment === EACH && at === slot.path.length - 1) yield { slot, path, value, wrap: true };
    else if (segment !== EACH && isObject(value) && Object.hasOwn(value, segment)) {
      yield* walk(value[segment], at + 1, [...path, segment]);
    }
  }
  yield* walk(args, 0, []);
}
