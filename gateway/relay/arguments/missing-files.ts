import { encodingFacts } from '../../encodings.js';
import { GatewayError } from '../../errors.js';
import { isObject } from '../../json/value.js';
import type { FileSlot } from '../../ports/file-slot.js';
import type { JsonObject, JsonPath, JsonValue } from '../../ports/json.js';
import { argumentOf } from '../../schema/argument-path.js';
import { valuesIn } from '../tools/file-slots.js';
import { calledAs, writtenAt } from '../tools/lifted-arguments.js';
import { type Call, lifts, mostIn, type Post, type PostContext } from './post.js';

/** What a client may write in place of "the file that is to be attached". */
export const SENTINEL = '@attach';

/**
 * Refuses a call that lacks a file: the server's own error would not say how to hand one over.
 * @throws GatewayError `file_missing`
 */
export function refuseMissing(post: Post): Post {
  for (const call of post.calls) refuseLacking(call, post.context);
  return post;
}

function refuseLacking({ name: tool, args, slots }: Call, context: PostContext): void {
  for (const slot of slots) {
    const path = argumentOf(slot.path);
    const { parent, value } = valueAt(args, path);
    const due = slot.required;
    const isNone = value === undefined || (value === '' && !mayBeEmpty(slot)) || (value === null && !due?.takesNull);
    const isMissing = due !== undefined && (parent !== undefined || due.always) && isNone;
    const attached = attachedIn(args, slot);
    if (!isMissing && attached === undefined) continue;
    const { accept, transferModes } = slot;
    throw new GatewayError('file_missing', {
      tool,
      argument: calledAs(slot, attached ?? path, lifts(context)),
      at: writtenAt(slot, attached ?? path, lifts(context)),
      maxSize: mostIn(slot, context).bytes,
      ...(accept && { accept }),
      ...(transferModes && { transferModes }),
    });
  }
}

/** Where the client marks a file to be attached: the slot itself, or an item of a list. */
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
  return deliveries.some((delivery) => delivery.kind === 'encoded' && encodingFacts(delivery.encoding).isPlainText);
}
