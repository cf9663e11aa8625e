import { isUtf8 } from 'node:buffer';
import { GatewayError, tooDeep } from '../errors.js';
import { batchItems, JsonDocument } from '../json/document.js';
import { jsonFault } from '../json/fault.js';
import { isObject } from '../json/value.js';
import { DEFAULT_LIMITS, type Limits } from '../policy/limits.js';
import type { JsonObject, JsonValue } from '../ports/dialect.js';
import type { Owner } from '../ports/owner.js';
import { parseJson } from '../wire/json/parse.js';
import { plainText } from '../wire/json/plain-text.js';
import { weigh } from '../wire/json/weigh.js';
import { refuseAmbiguous } from './ambiguous.js';
import { type Era, eraOfMessage, namesStateless } from './era.js';
import { readHeavy } from './heavy-request.js';
import { META_CAPABILITIES, META_VERSION } from './meta-keys.js';
import {
  invalid,
  oddMethod,
  type ReadMessage,
  refuseLongBatch,
  refuseOddId,
  refuseOddMethod,
  refuseOddParams,
} from './read-message.js';
import type { TooLongArgument } from './shortened-body.js';

/**
 * Most bytes of an id or a progress token, as JSON text. SDKs count, or write UUIDs. A longer one could not be captured
 * in the server's answer, and would be kept as long as the request.
 */
const MAX_NAME_BYTES = 1024;

/** How a client with a session gives up a request. Without a session it closes the stream. */
export const CANCELLED = 'notifications/cancelled';

const PROGRESS = 'notifications/progress';

const OPEN_BATCH = Buffer.from('[');
const NEXT_IN_BATCH = Buffer.from(',');
const CLOSE_BATCH = Buffer.from(']');

/** A request among the messages of one POST. */
export interface ClientRequest {
  /** The id as JSON text, `1` or `"1"`: different ids never share it. */
  id: string;
  method: string;
  /** The tool, the prompt or the URI it concerns. */
  subject: string | undefined;
  params: JsonObject;
  /** The JSON text of its arguments, if they are too many to be parsed at once; `params` then lacks them. */
  heavyArguments?: Buffer;
  /** An argument that was too long to be kept and is empty: the call cannot be made. */
  tooLong?: TooLongArgument;
  /** Its place in the body: empty, or its index in a batch. */
  base: readonly number[];
}

/** An answer to a request of the server's among the messages of one POST. */
interface ClientResponse {
  /** The id as JSON text. */
  id: string;
  /** Undefined of an error, and of one that is too much to be made. */
  result: JsonObject | undefined;
}

/** How far a client says it is with a request of the server's. */
interface ClientProgress {
  token: JsonValue;
  progress: number;
  total: number | undefined;
}

/** The body of one POST. */
export interface ClientMessages {
  bytes: Buffer;
  /** It is an array of messages. */
  isBatch: boolean;
  /** Messages in it. */
  count: number;
  requests: ClientRequest[];
  /** What it answers to the server's requests. */
  responses: ClientResponse[];
  /** Ids, as JSON text, of requests that the client no longer wants answered. */
  cancelled: string[];
  progress: ClientProgress[];
  /** Method of the first message, or `response` for an answer to the server. */
  firstMethod: string;
  /** The version in its `_meta`, if that is one without sessions. */
  statelessVersion: string | undefined;
  /** The revision that applies, as far as the message itself shows it. */
  era: Era;
  initialize: ClientRequest | undefined;
}

export type ReadingLimits = Pick<Limits, 'depth' | 'values' | 'batch'>;

/**
 * The messages of a body; a promise when the body is so large that it is read in steps.
 * @param owner whose body it is, where that is known
 * @throws GatewayError `json_malformed`, `too_deep`, `batch_too_long`, `request_invalid`
 */
export function readMessages(
  bytes: Buffer,
  limits: ReadingLimits,
  owner?: Owner,
): ClientMessages | Promise<ClientMessages> {
  // "JSON-RPC messages MUST be UTF-8 encoded" (MCP 2025-11-25, transports). Of bytes that are not, Wharf would judge what V8
  // makes of them, and some servers leave them out, or read two bytes for an ASCII letter.
  if (!isUtf8(bytes)) throw invalid('it is not UTF-8');
  switch (weigh(bytes, limits)) {
    case 'light':
      return parseMessages(bytes, limits);
    case 'deep':
      throw tooDeep(limits.depth);
    case 'heavy':
      return readHeavy(bytes, limits, owner).then(({ messages, isBatch }) => messagesOf(bytes, messages, isBatch));
  }
}

/**
 * The messages of a small body.
 * @throws GatewayError `json_malformed`, `batch_too_long`, `request_invalid`
 */
export function parseMessages(bytes: Buffer, limits: Pick<Limits, 'batch'> = DEFAULT_LIMITS): ClientMessages {
  let value: JsonValue;
  try {
    value = parseJson(bytes.toString('utf8')) as JsonValue;
  } catch {
    // V8's own error quotes the text
    throw new GatewayError('json_malformed', { reason: jsonFault(bytes) });
  }
  const values = Array.isArray(value) ? value : [value];
  refuseLongBatch(values.length, limits);
  refuseAmbiguous(bytes, value);
  const longIds = new Map<number, ReadMessage>();
  const read = values.map((message, index): ReadMessage => {
    if (!isObject(message)) throw invalid('a message is not a JSON object');
    const { id } = message;
    const { params: given = {} } = message;
    if (!isObject(given)) refuseOddParams(JSON.stringify(given).charCodeAt(0));
    const params = isObject(given) ? given : {};
    const method = methodIn(message.method);
    const text = id === undefined ? undefined : JSON.stringify(id);
    const one: ReadMessage = { id: text, method, params };
    if (method === undefined && message.result !== undefined) one.result = message.result;
    if (method === undefined || text === undefined) return one;
    if (typeof id !== 'number') refuseOddId(text.charCodeAt(0));
    else if (!Number.isSafeInteger(id)) longIds.set(index, one);
    return one;
  });
  if (longIds.size > 0) spellOut(longIds, bytes, Array.isArray(value));
  return messagesOf(bytes, read, Array.isArray(value));
}

/** @throws GatewayError `request_invalid`: without one the message would be an answer, which is judged by nothing */
function methodIn(method: JsonValue | undefined): string | undefined {
  if (typeof method === 'string') return method;
  if (method !== undefined && method !== null) throw oddMethod();
  return undefined;
}

/** Restores the client's digits of numbers too large for a double (64-bit ids are legal JSON). */
function spellOut(messages: ReadonlyMap<number, ReadMessage>, bytes: Buffer, isBatch: boolean): void {
  const pathOf = (index: number) => (isBatch ? [index, 'id'] : ['id']);
  const document = JsonDocument.of(bytes, isBatch).find([...messages.keys()].map(pathOf));
  for (const [index, one] of messages) {
    const range = document.at(pathOf(index));
    if (range) one.id = plainText(document.slice(range.start, range.end).toString('latin1'));
  }
}

function messagesOf(bytes: Buffer, messages: readonly ReadMessage[], isBatch: boolean): ClientMessages {
  if (messages.length === 0) throw invalid('the batch is empty');
  const requests: ClientRequest[] = [];
  const responses: ClientResponse[] = [];
  const cancelled: string[] = [];
  const progress: ClientProgress[] = [];
  let statelessVersion: string | undefined;
  for (const [index, { id, method, params, heavyArguments, result }] of messages.entries()) {
    const version = metaOf(params)[META_VERSION];
    if (namesStateless(version)) statelessVersion = version;
    if (method === CANCELLED && params.requestId !== undefined) cancelled.push(JSON.stringify(params.requestId));
    if (method === PROGRESS && id === undefined) addProgress(params, progress);
    if (method === undefined && id !== undefined) responses.push({ id, result: isObject(result) ? result : undefined });
    if (method === undefined) continue;
    refuseOddMethod(method, id);
    if (id === undefined) continue;
    refuseLongName('a progress token', JSON.stringify(metaOf(params).progressToken ?? null));
    const base = isBatch ? [index] : [];
    refuseLongName('an id', id);
    const request = { id, method, subject: subjectOf(method, params), params, base };
    requests.push(heavyArguments ? { ...request, heavyArguments } : request);
  }
  return {
    bytes,
    isBatch,
    count: messages.length,
    requests,
    responses,
    cancelled,
    progress,
    firstMethod: messages[0]?.method ?? 'response',
    statelessVersion,
    era: eraOfMessage(statelessVersion),
    initialize: requests.find((request) => request.method === 'initialize'),
  };
}

/**
 * A batch without some of its requests; undefined where nothing else is in it.
 * @param owner whose work it is
 */
export async function withoutRequests(
  messages: ClientMessages,
  left: { has(request: ClientRequest): boolean },
  owner: Owner,
): Promise<ClientMessages | undefined> {
  const gone = new Set(messages.requests.flatMap((request) => (left.has(request) ? request.base : [])));
  const count = messages.count - gone.size;
  if (count === 0) return undefined;
  const pieces: Buffer[] = [];
  // by its old place, the new one of each that stays
  const places = new Map<number, number>();
  for (const [index, item] of (await batchItems(messages.bytes, messages.count, owner)).entries()) {
    if (gone.has(index)) continue;
    pieces.push(places.size === 0 ? OPEN_BATCH : NEXT_IN_BATCH, item);
    places.set(index, places.size);
  }
  const requests = messages.requests.flatMap((request) => {
    const place = places.get(request.base[0] ?? 0);
    return place === undefined ? [] : [{ ...request, base: [place] }];
  });
  const first = requests.find(({ base }) => base[0] === 0);
  return {
    ...messages,
    bytes: Buffer.concat([...pieces, CLOSE_BATCH]),
    count,
    requests,
    firstMethod: gone.has(0) ? (first?.method ?? 'response') : messages.firstMethod,
  };
}

function addProgress({ progressToken: token, progress, total }: JsonObject, to: ClientProgress[]): void {
  if (token === undefined || typeof progress !== 'number') return;
  to.push({ token, progress, total: typeof total === 'number' ? total : undefined });
}

/** @throws GatewayError `request_invalid` */
function refuseLongName(what: string, text: string): void {
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_NAME_BYTES) throw invalid(`${what} has at most ${MAX_NAME_BYTES} bytes, and this one has ${bytes}`);
}

/** The capabilities that a request itself declares. */
export function capabilitiesOf(params: JsonObject): JsonObject | undefined {
  const declared = metaOf(params)[META_CAPABILITIES];
  return isObject(declared) ? declared : undefined;
}

/** The `_meta` of a request; empty without one. */
export function metaOf(params: JsonObject): JsonObject {
  return isObject(params._meta) ? params._meta : {};
}

/**
 * The value that `Mcp-Name` repeats (SEP-2243; tasks by SEP-2663), and that nameless files are named after.
 * @throws GatewayError `request_invalid` for a name by which nothing can be judged: a server may take a list of one text for it
 */
function subjectOf(method: string, params: JsonObject): string | undefined {
  const key = subjectKey(method);
  const value = key && params[key];
  if (value !== undefined && typeof value !== 'string' && key !== 'uri') {
    throw invalid(`params.${key} of ${method} is a text`);
  }
  return typeof value === 'string' ? value : undefined;
}

function subjectKey(method: string): string | undefined {
  switch (method) {
    case 'tools/call':
    case 'prompts/get':
      return 'name';
    case 'tasks/get':
    case 'tasks/update':
    case 'tasks/cancel':
    case 'tasks/result':
      return 'taskId';
    default:
      // extensions have their own methods for resources
      return method.startsWith('resources/') ? 'uri' : undefined;
  }
}
