import { GatewayError } from '../../errors.js';
import { isObject } from '../../json/value.js';
import type { Encoding, FileSlot } from '../../ports/file-slot.js';
import type { JsonObject, JsonPath, JsonValue } from '../../ports/json.js';
import { valuesIn } from '../tools/file-slots.js';
import { calledAs } from '../tools/lifted-arguments.js';
import { pathOf, type RequiredSlot } from '../tools/required.js';

/** What a client may write where it means "the file that is to be attached". */
export const SENTINEL = '@attach';

/** Encodings in which a file may be the empty string. */
const MAY_BE_EMPTY = new Set<Encoding>(['text', 'localPath', 'fileUri', 'httpsUrl']);

/**
 * Refuses a call that lacks a file: asking the server would only give an error that does not say how to hand one over.
 * @param about `maxSize`: the most bytes a file in a slot may have; `lifts`: the client calls nested ones by other names
 * @throws GatewayError `file_missing`
 */
export function refuseMissing(
  tool: string,
  args: JsonObject,
  slots: readonly FileSlot[],
  required: readonly RequiredSlot[],
  { maxSize, lifts }: { maxSize: (slot: FileSlot) => { bytes: number }; lifts: boolean },
): void {
  for (const slot of slots) {
    const path = pathOf(slot);
    const { parent, value } = valueAt(args, path);
    const due = required.find((one) => one.slot === slot);
    const isNone = value === undefined || (value === '' && !mayBeEmpty(slot)) || (value === null && !due?.takesNull);
    const isMissing = due !== undefined && (parent !== undefined || due.always) && isNone;
    const attached = attachedIn(args, slot);
    if (!isMissing && attached === undefined) continue;
    const { accept, transferModes } = slot;
    throw new GatewayError('file_missing', {
      tool,
      argument: calledAs(slot, attached ?? path, lifts),
      maxSize: maxSize(slot).bytes,
      ...(accept && { accept }),
      ...(transferModes && { transferModes }),
    });
  }
}

/** Where the client says that a file is to be attached: the slot itself, or an item of a list. */
function attachedIn(args: JsonObject, slot: FileSlot): JsonPath | undefined {
  for (const { path, value } of valuesIn(args, slot)) if (value === SENTINEL) return path;
  return undefined;
}

function valueAt(args: JsonObject, path: JsonPath): { parent: JsonObject | undefined; value: JsonValue | undefined } {
  let parent: JsonValue | undefined = args;
  for (const key of path.slice(0, -1)) parent = isObject(parent) ? parent[key] : undefined;
  if (!isObject(parent)) return { parent: undefined, value: undefined };
  const key = String(path.at(-1));
  return { parent, value: Object.hasOwn(parent, key) ? parent[key] : undefined };
}

function mayBeEmpty({ deliveries }: FileSlot): boolean {
  return deliveries.some((delivery) => delivery.kind === 'encoded' && MAY_BE_EMPTY.has(delivery.encoding));
}
