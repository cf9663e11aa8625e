import { breathe } from '../../budget/turn.js';
import { encodingFacts } from '../../encodings.js';
import { type ErrorFacts, GatewayError } from '../../errors.js';
import { isObject, valueAt } from '../../json/value.js';
import type { FileSlot } from '../../ports/file-slot.js';
import type { JsonObject, JsonPath, JsonValue } from '../../ports/json.js';
import { argumentOf, isEach } from '../../schema/argument-path.js';
import type { ToolSlot } from '../../tools/tool.js';
import { valuesIn } from '../tools/file-slots.js';
import { calledAs, writtenAt } from '../tools/lifted-arguments.js';
import { type Call, lifts, mostIn, ofCall, ownerOf, type Post, type PostContext, togetherIn, typesIn } from './post.js';
import { sizeBy } from './refused-file.js';

/** What a client may write in place of "the file that is to be attached". */
export const SENTINEL = '@attach';

/** JSON may spell any character of it so. */
const ESCAPE = '\\u';

/**
 * Refuses a call that lacks a file: the server's own error would not say how to hand one over.
 * @throws GatewayError `file_missing`
 */
export async function refuseMissing(post: Post): Promise<Post> {
  const { bytes } = post.messages;
  // all values of a list are looked at for it: a call may have half a million, and a tool a hundred slots below them
  const mayAttach = bytes.includes(SENTINEL) || bytes.includes(ESCAPE);
  for (const call of post.calls) await ofCall(call, post, () => refuseLacking(call, post.context, mayAttach));
  return post;
}

async function refuseLacking(
  { name: tool, args, slots }: Call,
  context: PostContext,
  mayAttach: boolean,
): Promise<void> {
  for (const slot of slots) {
    const wait = breathe(ownerOf(context));
    if (wait) await wait;
    const path = argumentOf(slot.path);
    const { parent, value } = memberAt(args, path);
    const due = slot.required;
    const isNone = value === undefined || (value === '' && !mayBeEmpty(slot)) || (value === null && !due?.takesNull);
    const isMissing = due !== undefined && (parent !== undefined || due.always) && isNone;
    const attached = mayAttach ? attachedIn(args, slot) : undefined;
    if (!isMissing && attached === undefined) continue;
    const { transferModes } = slot;
    const most = mostIn(slot, context);
    const place = attached ?? path;
    throw new GatewayError('file_missing', {
      tool,
      argument: calledAs(slot, place, lifts(context)),
      at: writtenAt(slot, place, lifts(context)),
      ...countsOf(slot, place, context),
      maxSize: most.bytes,
      ...sizeBy(most),
      ...typesIn(slot, context),
      ...(transferModes && { transferModes }),
    });
  }
}

/**
 * Where the client marks a file to be attached: the slot itself, or an item of a list. A list of nothing else is to be
 * filled as a whole.
 */
function attachedIn(args: JsonObject, slot: FileSlot): JsonPath | undefined {
  for (const { path, value, wrap } of valuesIn(args, slot)) {
    if (value !== SENTINEL) continue;
    const list = isEach(slot.path) && !wrap ? path.slice(0, -1) : undefined;
    const items = list && listAt(args, list);
    return list && items?.length === 1 ? list : path;
  }
  return undefined;
}

function listAt(args: JsonObject, path: JsonPath): readonly JsonValue[] | undefined {
  const value = valueAt(args, path);
  return Array.isArray(value) ? value : undefined;
}

/** How many files a list takes, where it lacks all of them. */
function countsOf(slot: ToolSlot, place: JsonPath, context: PostContext): ErrorFacts {
  if (!isEach(slot.path) || typeof place.at(-1) === 'number') return {};
  const { files, filesPerArgument } = context.deps.limits;
  const most = Math.min(slot.maxItems ?? filesPerArgument, files);
  if (most <= 1) return {};
  const together = togetherIn(slot, most, context);
  return {
    minFiles: Math.min(Math.max(1, slot.minItems ?? 1), most),
    maxFiles: most,
    ...(together && { maxTogether: together.bytes, togetherLimit: together.limit }),
  };
}

/** The object around the value at a path, and the value. */
function memberAt(args: JsonObject, path: JsonPath): { parent: JsonObject | undefined; value: JsonValue | undefined } {
  const parent = valueAt(args, path.slice(0, -1));
  if (!isObject(parent)) return { parent: undefined, value: undefined };
  return { parent, value: valueAt(parent, path.slice(-1)) };
}

function mayBeEmpty({ deliveries }: FileSlot): boolean {
  return deliveries.some((delivery) => delivery.kind === 'encoded' && encodingFacts(delivery.encoding).isPlainText);
}
