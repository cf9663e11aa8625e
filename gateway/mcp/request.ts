import { GatewayError } from '../errors.js';
import { jsonFault } from '../json/fault.js';
import { locate } from '../json/locate.js';
import { isObject } from '../json/value.js';
import { DEFAULT_LIMITS, type Limits } from '../policy/limits.js';
import type { JsonObject, JsonValue } from '../ports/dialect.js';
import { weigh } from '../wire/json/weigh.js';
import { refuseAmbiguous } from './ambiguous.js';
import { readHeavy } from './heavy-request.js';
import { invalid, type ReadMessage, refuseLongBatch, refuseOddId } from './read-message.js';
import type { TooLongArgument } from './shortened-body.js';

/** From this version on a request carries its version, capabilities and client in `_meta`, and there are no sessions. */
export const STATELESS_SINCE = '2026-07-28';

/** Assumed for a client that names no version: the last one before `MCP-Protocol-Version` existed. */
export const DEFAULT_VERSION = '2025-03-26';

/** Stateless versions that Wharf knows. A client that names another one is refused, as MCP wants it. */
export const STATELESS_VERSIONS = ['2026-07-28'];

/** Versions with sessions, the oldest first. */
const SESSION_VERSIONS = ['2024-10-07', '2024-11-05', DEFAULT_VERSION, '2025-06-18', '2025-11-25'];

/**
 * The version whose rules hold for one that a peer names: each may name as many as it likes, and what Wharf keeps by
 * version must not grow with them. Of a session's that is not known, the latest before it.
 */
export function knownVersion(named: string): string {
  if (STATELESS_VERSIONS.includes(named)) return named;
  if (!/^\d{4}-\d{2}-\d{2}$/.test(named)) return DEFAULT_VERSION;
  return SESSION_VERSIONS.findLast((version) => version <= named) ?? DEFAULT_VERSION;
}

const META = 'io.modelcontextprotocol/';
export const META_VERSION = `${META}protocolVersion`;
export const META_CAPABILITIES = `${META}clientCapabilities`;
export const META_CLIENT = `${META}clientInfo`;

/**
 * Most bytes of an id or a progress token, as JSON text. SDKs count, or write UUIDs; what is longer could not be found
 * again in the server's answer, and would be kept for as long as the request is.
 */
export const MAX_NAME_BYTES = 1024;

/** Until 2026-07-28 a client tells so that it gives up; after that it closes the stream. */
export const CANCELLED = 'notifications/cancelled';

/** A request among the messages of one POST. */
export interface ClientRequest {
  /** The id as JSON text, `1` or `"1"`: different ids never share it. */
  id: string;
  method: string;
  /** The tool, the prompt or the URI it is about. */
  subject: string | undefined;
  params: JsonObject;
  /** The JSON text of its arguments, where they are too many to be made at once; `params` lacks them then. */
  heavyArguments?: Buffer;
  /** One of its arguments was too long to be kept, and is empty: the call cannot be made. */
  tooLong?: TooLongArgument;
  /** Where it stands in the body: nothing, or its index in a batch. */
  base: readonly number[];
}

/** The body of one POST. */
export interface ClientMessages {
  bytes: Buffer;
  /** How many messages it holds; a batch (2025-03-26) is an array. */
  isBatch: boolean;
  requests: ClientRequest[];
  /** Ids, as JSON text, of requests to which the client wants no answer any more. */
  cancelled: string[];
  /** Method of the first message, or `response` for an answer to the server. */
  firstMethod: string;
  /** The version its `_meta` names, for 2026-07-28 and later. */
  statelessVersion: string | undefined;
  initialize: ClientRequest | undefined;
}

export type ReadingLimits = Pick<Limits, 'depth' | 'values' | 'batch'>;

/**
 * The messages of a body; a promise where there is so much in it that it is read in steps.
 * @throws GatewayError `json_malformed`, `too_deep`, `batch_too_long`, `request_invalid`
 */
export function readMessages(bytes: Buffer, limits: ReadingLimits): ClientMessages | Promise<ClientMessages> {
  switch (weigh(bytes, limits)) {
    case 'light':
      return parseMessages(bytes, limits);
    case 'deep':
      throw new GatewayError('too_deep', { limit: 'limits.depth', allowed: limits.depth });
    case 'heavy':
      return readHeavy(bytes, limits).then(({ messages, isBatch }) => messagesOf(bytes, messages, isBatch));
  }
}

/**
 * The messages of a body that is light.
 * @throws GatewayError `json_malformed`, `batch_too_long`, `request_invalid`
 */
export function parseMessages(bytes: Buffer, limits: Pick<Limits, 'batch'> = DEFAULT_LIMITS): ClientMessages {
  let value: JsonValue;
  try {
    value = JSON.parse(bytes.toString('utf8')) as JsonValue;
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
    const params = isObject(message.params) ? message.params : {};
    const method = typeof message.method === 'string' ? message.method : undefined;
    const text = id === undefined ? undefined : JSON.stringify(id);
    const one = { id: text, method, params };
    if (method === undefined || text === undefined) return one;
    if (typeof id !== 'number') refuseOddId(text.charCodeAt(0));
    else if (!Number.isSafeInteger(id)) longIds.set(index, one);
    return one;
  });
  if (longIds.size > 0) spellOut(longIds, bytes, Array.isArray(value));
  return messagesOf(bytes, read, Array.isArray(value));
}

/** Of numbers too large to be one here (64-bit ids are legal JSON), the digits that their client wrote. */
function spellOut(messages: ReadonlyMap<number, ReadMessage>, bytes: Buffer, isBatch: boolean): void {
  const pathOf = (index: number) => (isBatch ? [index, 'id'] : ['id']);
  const { text, at } = locate(bytes, [...messages.keys()].map(pathOf), isBatch);
  for (const [index, one] of messages) {
    const range = at(pathOf(index));
    if (range) one.id = text.slice(range.start, range.end).toString('latin1');
  }
}

function messagesOf(bytes: Buffer, messages: readonly ReadMessage[], isBatch: boolean): ClientMessages {
  if (messages.length === 0) throw invalid('the batch is empty');
  const requests: ClientRequest[] = [];
  const cancelled: string[] = [];
  let statelessVersion: string | undefined;
  for (const [index, { id, method, params, heavyArguments }] of messages.entries()) {
    const version = metaOf(params)[META_VERSION];
    if (typeof version === 'string' && version >= STATELESS_SINCE) statelessVersion = version;
    if (method === CANCELLED && params.requestId !== undefined) cancelled.push(JSON.stringify(params.requestId));
    if (method === undefined || id === undefined) continue;
    short('a progress token', JSON.stringify(metaOf(params).progressToken ?? null));
    const base = isBatch ? [index] : [];
    const request = { id: short('an id', id), method, subject: subjectOf(method, params), params, base };
    requests.push(heavyArguments ? { ...request, heavyArguments } : request);
  }
  return {
    bytes,
    isBatch,
    requests,
    cancelled,
    firstMethod: messages[0]?.method ?? 'response',
    statelessVersion,
    initialize: requests.find((request) => request.method === 'initialize'),
  };
}

/** @throws GatewayError `request_invalid` */
function short(what: string, text: string): string {
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_NAME_BYTES) throw invalid(`${what} has at most ${MAX_NAME_BYTES} bytes, and this one has ${bytes}`);
  return text;
}

/** What a request itself says of its client. */
export function capabilitiesOf(params: JsonObject): JsonObject | undefined {
  const declared = metaOf(params)[META_CAPABILITIES];
  return isObject(declared) ? declared : undefined;
}

export function metaOf(params: JsonObject): JsonObject {
  return isObject(params._meta) ? params._meta : {};
}

/** What `Mcp-Name` repeats (SEP-2243; tasks by SEP-2663), and what nameless files are called after. */
export function subjectOf(method: string, params: JsonObject): string | undefined {
  const value = subjectKey(method) && params[subjectKey(method) as string];
  return typeof value === 'string' ? value : undefined;
}

function subjectKey(method: string): string | undefined {
  switch (method) {
    case 'tools/call':
    case 'prompts/get':
      return 'name';
    case 'resources/read':
    case 'resources/stream':
    case 'resources/subscribe':
      return 'uri';
    case 'tasks/get':
    case 'tasks/update':
    case 'tasks/cancel':
    case 'tasks/result':
      return 'taskId';
    default:
      return undefined;
  }
}
