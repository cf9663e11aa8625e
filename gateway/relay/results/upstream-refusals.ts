import { patchText } from '../../json/patch.js';
import { isObject } from '../../json/value.js';
import { eraOf } from '../../mcp/era.js';
import { RANGE, rangeAt } from '../../mcp/ranges.js';
import type { Answer } from '../../mcp/responses.js';
import type { ClientFacts } from '../../ports/client.js';
import type { Dialect, FileRefusal } from '../../ports/dialect.js';
import type { JsonObject, JsonPatch, JsonValue } from '../../ports/json.js';
import { parseJson } from '../../wire/json/parse.js';
import type { HeldMessage, WatchRange } from '../../wire/json/reader.js';
import { answerText, factsOf, refusedAnswer } from '../client/local-answer.js';
import { FILE_ERROR_META_KEY } from '../cut/places.js';
import type { PendingRequest } from '../pending-request.js';

/** A refusal is a sentence and a few numbers; a larger answer is not searched for one. */
const MAX_REFUSAL_BYTES = 64 * 1024;

/** Every form of a refusal has its reason under this key. */
const MARK = '"reason"';

/** A cheap test: whether a text may refuse a file of one of these requests. */
export function mayRefuseFile(
  requests: readonly (PendingRequest | undefined)[],
  size: number,
  read: (start: number, end: number) => Buffer,
): boolean {
  return size <= MAX_REFUSAL_BYTES && requests.some((request) => request?.hasFiles) && read(0, size).includes(MARK);
}

interface RefusalContext {
  client: ClientFacts;
  dialects: readonly Dialect[];
  /** What the tool declares about its results. */
  outputSchema: () => JsonObject | undefined;
}

/** A server's refusal of a call with files. */
interface Refused {
  answer: { error: JsonObject } | { result: JsonObject };
  refusal: FileRefusal;
  /** The dialect of the refusal. */
  dialect: Dialect;
}

/**
 * Rewrites a JSON-RPC error by which a server refused a file: as a tool error that the model sees, unless the client
 * speaks the server's dialect or has its own form of error.
 * @returns the whole message; undefined when it passes unchanged
 */
export function retoldError(
  message: HeldMessage,
  request: PendingRequest | undefined,
  { client, dialects }: RefusalContext,
): Buffer | undefined {
  const found = refusedIn(message, [], request, dialects);
  if (!found || !request || !('error' in found.answer) || found.dialect.refuse?.(found.refusal, client)) {
    return undefined;
  }
  const answer = refusedAnswer(found.refusal, client, dialects);
  return answerText(request, answer, eraOf(client.protocolVersion));
}

/**
 * Moves the facts of a tool error that refuses a file from structuredContent to `_meta`, where Wharf's own are, if the
 * tool's outputSchema does not allow them: clients validate against it.
 */
export function liftedFacts(
  message: HeldMessage,
  { base }: Answer,
  request: PendingRequest | undefined,
  { dialects, outputSchema }: RefusalContext,
): { range: WatchRange; text: Buffer } | undefined {
  const range = rangeAt(message, RANGE.result, [...base, 'result']);
  if (!range || message.captured(RANGE.subscriptionId) !== undefined) return undefined;
  const found = refusedIn(message, base, request, dialects);
  if (!found || !('result' in found.answer)) return undefined;
  const { result } = found.answer;
  const meta = isObject(result._meta) ? ['_meta', FILE_ERROR_META_KEY] : ['_meta'];
  const facts = factsOf(found.refusal);
  const patches: JsonPatch[] = [{ path: meta, value: meta.length > 1 ? facts : { [FILE_ERROR_META_KEY]: facts } }];
  if (!foresees(outputSchema(), result.structuredContent))
    patches.push({ path: ['structuredContent'], value: undefined });
  return { range, text: patchText(message.slice(range.start, range.end), patches) };
}

/** Messages that have been parsed: a batch is read for each of its answers. */
const bodies = new WeakMap<HeldMessage, JsonValue>();

function bodyOf(message: HeldMessage): JsonValue {
  const known = bodies.get(message);
  if (known !== undefined) return known;
  const body = parseJson(message.skeleton().toString('utf8')) as JsonValue;
  bodies.set(message, body);
  return body;
}

function refusedIn(
  message: HeldMessage,
  base: Answer['base'],
  request: PendingRequest | undefined,
  dialects: readonly Dialect[],
): Refused | undefined {
  const read = (start: number, end: number) => message.slice(start, end);
  if (message.malformed || !mayRefuseFile([request], message.size, read)) return undefined;
  const body = bodyOf(message);
  const [index] = base;
  const single = Array.isArray(body) ? body[Number(index)] : body;
  if (!isObject(single)) return undefined;
  const answer = isObject(single.error)
    ? { error: single.error }
    : isObject(single.result)
      ? { result: single.result }
      : undefined;
  if (!answer) return undefined;
  for (const dialect of dialects) {
    const refusal = dialect.readRefusal?.(answer);
    if (refusal) return { answer, refusal, dialect };
  }
  return undefined;
}

function foresees(schema: JsonObject | undefined, content: JsonValue | undefined): boolean {
  if (schema === undefined || !isObject(content)) return true;
  const { properties, required } = schema;
  const names = isObject(properties) ? properties : {};
  const due = Array.isArray(required) ? required : [];
  return (
    Object.keys(content).every((key) => Object.hasOwn(names, key)) &&
    due.every((key) => typeof key === 'string' && Object.hasOwn(content, key))
  );
}
