import type { Edit } from '../../json/edits.js';
import { patchText } from '../../json/patch.js';
import { isObject } from '../../json/value.js';
import { RANGE, rangeAt } from '../../mcp/ranges.js';
import { STATELESS_SINCE } from '../../mcp/request.js';
import type { Answer } from '../../mcp/responses.js';
import type { ClientFacts } from '../../ports/client.js';
import type { Dialect, FileRefusal } from '../../ports/dialect.js';
import type { JsonObject, JsonPatch, JsonValue } from '../../ports/json.js';
import type { HeldMessage } from '../../wire/json/reader.js';
import { factsOf, type LocalAnswer, refusedAnswer } from '../client/local-answer.js';
import { FILE_ERROR_META_KEY } from '../cut/places.js';
import type { PendingRequest } from '../pending-request.js';

/** A refusal is a sentence and a few numbers; a larger answer is not read for one. */
const MAX_REFUSAL_BYTES = 64 * 1024;

/** Every wording of a refusal names its reason under this key. */
const MARK = '"reason"';

export interface RefusalContext {
  client: ClientFacts;
  dialects: readonly Dialect[];
  /** What the tool declares of its results. */
  outputSchema: () => JsonObject | undefined;
}

/** What a server answered a call with files. */
interface Refused {
  answer: { error: JsonObject } | { result: JsonObject };
  refusal: FileRefusal;
  /** Whose words it used. */
  dialect: Dialect;
}

/**
 * A JSON-RPC error in which a server refused a file, as the client is told of one: a tool error that the model sees,
 * unless the client speaks the server's dialect, or has an error of its own for it.
 * @returns the whole message; undefined when it is to go as it came
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
  const body = client.protocolVersion >= STATELESS_SINCE ? complete(answer) : answer;
  return Buffer.from(`{"jsonrpc":"2.0","id":${request.id},${JSON.stringify(body).slice(1)}`);
}

/**
 * A tool error in which a server says in structuredContent why it refused a file: the facts go where Wharf's own stand,
 * and out of structuredContent where the tool's outputSchema does not foresee them, for clients hold it against that.
 */
export function liftedFacts(
  message: HeldMessage,
  { base }: Answer,
  request: PendingRequest | undefined,
  { dialects, outputSchema }: RefusalContext,
): Edit[] {
  const range = rangeAt(message, RANGE.result, [...base, 'result']);
  if (!range || message.captured(RANGE.subscriptionId) !== undefined) return [];
  const found = refusedIn(message, base, request, dialects);
  if (!found || !('result' in found.answer)) return [];
  const { result } = found.answer;
  const meta = isObject(result._meta) ? ['_meta', FILE_ERROR_META_KEY] : ['_meta'];
  const facts = factsOf(found.refusal);
  const patches: JsonPatch[] = [{ path: meta, value: meta.length > 1 ? facts : { [FILE_ERROR_META_KEY]: facts } }];
  if (!foresees(outputSchema(), result.structuredContent))
    patches.push({ path: ['structuredContent'], value: undefined });
  return [{ ...range, bytes: patchText(message.slice(range.start, range.end), patches) }];
}

function refusedIn(
  message: HeldMessage,
  base: Answer['base'],
  request: PendingRequest | undefined,
  dialects: readonly Dialect[],
): Refused | undefined {
  if (!request?.hasFiles || message.malformed || message.size > MAX_REFUSAL_BYTES) return undefined;
  const text = message.skeleton();
  if (!text.includes(MARK)) return undefined;
  const body = JSON.parse(text.toString('utf8')) as JsonValue;
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

function complete(answer: LocalAnswer): LocalAnswer {
  return 'result' in answer ? { result: { resultType: 'complete', ...answer.result } } : answer;
}
