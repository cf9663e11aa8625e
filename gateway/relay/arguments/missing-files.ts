import { type ErrorFacts, GatewayError } from '../../errors.js';
import type { Uploads } from '../../files/upload.js';
import { patchValue } from '../../json/patch.js';
import { isObject } from '../../json/value.js';
import type { ClientFacts, Dialect } from '../../ports/dialect.js';
import type { Encoding, FileSlot } from '../../ports/file-slot.js';
import type { JsonObject, JsonPath, JsonValue } from '../../ports/json.js';
import { EACH } from '../../schema/argument-path.js';
import { placeOf } from '../../schema/place.js';
import { type LocalAnswer, refusalAnswer } from '../client/local-answer.js';
import { atMost, offerOf } from '../local/upload-steps.js';
import { valuesIn } from '../tools/file-slots.js';
import { calledAs, isAlwaysRequired } from '../tools/lifted-arguments.js';

/** What a client may write where it means "the file that is to be attached". */
export const SENTINEL = '@attach';

/** Where a tool result says for programs how the file that it lacks, or would not take, can be uploaded. */
const UPLOAD_REQUIRED_META_KEY = 'dev.wharf/uploadRequired';

/** Encodings in which a file may be the empty string. */
const MAY_BE_EMPTY = new Set<Encoding>(['text', 'localPath', 'fileUri', 'httpsUrl']);

/** A slot that must be filled where the object around it is there. */
export interface RequiredSlot {
  slot: FileSlot;
  /** That object must be there as well. */
  always: boolean;
  /** Null may be what fills it. Where the tool takes none, a model that writes one has no file. */
  takesNull: boolean;
}

/** The slots that a tool says it cannot do without. One below an array is asked for only by its items. */
export function requiredSlots(tool: JsonObject, slots: readonly FileSlot[]): RequiredSlot[] {
  return slots.flatMap((slot) => {
    const path = pathOf(slot);
    const key = path.at(-1);
    if (key === undefined || path.includes(EACH)) return [];
    const parent = path.length === 1 ? tool.inputSchema : placeOf(tool, path.slice(0, -1))?.schema;
    if (!isObject(parent) || !Array.isArray(parent.required) || !parent.required.includes(key)) return [];
    const schema = isObject(parent.properties) ? parent.properties[key] : undefined;
    return [{ slot, always: isAlwaysDue(tool, path), takesNull: !isObject(schema) || mayBeNull(schema) }];
  });
}

/** A schema that does not name one type may lead anywhere. */
function mayBeNull({ type, nullable }: JsonObject): boolean {
  return typeof type !== 'string' || type === 'null' || nullable === true;
}

function isAlwaysDue(tool: JsonObject, path: readonly string[]): boolean {
  const place = placeOf(tool, path);
  return place !== undefined && isAlwaysRequired(patchValue(tool, place.copies), place.at);
}

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

export interface OfferDeps {
  server: string;
  principal: string;
  uploads: Pick<Uploads, 'authorize'>;
}

/**
 * What a client is told of a call that lacks a file, or has one that is refused: what is wrong, and where a file may come by
 * a handle how to upload it.
 */
export async function fileAnswer(
  error: GatewayError,
  client: ClientFacts,
  deps: OfferDeps & { dialects: readonly Dialect[] },
): Promise<LocalAnswer> {
  if (error.code === 'file_missing') return missingAnswer(error, deps);
  return withOffer(refusalAnswer(error, client, deps.dialects), error, deps);
}

/** What a model is told of a call that lacks a file: what is missing, and how to come by it, link included. */
async function missingAnswer({ facts, message }: GatewayError, deps: OfferDeps): Promise<LocalAnswer> {
  const modes = Array.isArray(facts.transferModes) ? (facts.transferModes as string[]) : ['upload'];
  if (!modes.includes('upload')) {
    const text = `${message} Pass it as a data: URI, data:<type>;base64,<bytes>. Do not make up what is in it.`;
    return { result: { content: [{ type: 'text', text }], isError: true } };
  }
  const { steps, meta } = await offer(facts, facts.maxSize, facts.accept, deps);
  return { result: { content: [{ type: 'text', text: `${message}\n${steps}` }], isError: true, _meta: meta } };
}

/** A refusal of a file that may come by a handle, with the way to it; whatever is no tool result stays as it is. */
async function withOffer(answer: LocalAnswer, { facts, message }: GatewayError, deps: OfferDeps): Promise<LocalAnswer> {
  if (facts.uploadLimit === undefined || !('result' in answer)) return answer;
  const { steps, meta } = await offer(facts, facts.uploadLimit, facts.uploadAccept, deps);
  const { _meta, ...rest } = answer.result;
  const kind = atMost(Number(facts.uploadLimit), facts.uploadAccept as readonly string[] | undefined);
  const content = [{ type: 'text', text: `${message} An upload takes a file${kind}.\n${steps}` }];
  return { result: { ...rest, content, _meta: { ...(isObject(_meta) && _meta), ...meta } } };
}

/** The right to one upload for an argument: steps for a model, and the same for programs. */
async function offer(
  facts: ErrorFacts,
  largest: unknown,
  types: unknown,
  { server, principal, uploads }: OfferDeps,
): Promise<{ steps: string; meta: JsonObject }> {
  const argument = String(facts.argument);
  const maxSize = Number(largest);
  const accept = Array.isArray(types) ? { accept: types as string[] } : {};
  const authorization = await uploads.authorize({
    principal,
    maxSize,
    ...accept,
    purpose: { server, tool: String(facts.tool), argument },
  });
  const then = `call the tool again with this handle as '${argument}'`;
  const { steps, upload, curl, page } = offerOf(authorization, undefined, then);
  const agent = { method: 'POST', url: page, headers: {}, example: curl };
  const file = { uri: authorization.uri };
  const wanted = { argument, file, maxSize, ...accept, upload, human: { url: page }, agent };
  return { steps, meta: { [UPLOAD_REQUIRED_META_KEY]: wanted } };
}

/** Of a slot in every item of an array the array itself: it is what is missing. */
function pathOf({ path }: FileSlot): readonly string[] {
  return path.at(-1) === EACH ? path.slice(0, -1) : path;
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
