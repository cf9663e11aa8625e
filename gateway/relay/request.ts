import { GatewayError } from '../errors.js';
import type { JsonObject, JsonValue } from '../ports/dialect.js';
import { nestsDeeper } from '../wire/json/nesting.js';
import type { AnswerEdit } from './answer-edit.js';
import { locate } from './json-text.js';
import { idIn } from './request-id.js';

/** From this version on a request carries its version, capabilities and client in `_meta`, and there are no sessions. */
export const STATELESS_SINCE = '2026-07-28';

/** Assumed for a client that names no version: the last one before `MCP-Protocol-Version` existed. */
export const DEFAULT_VERSION = '2025-03-26';

/** Stateless versions that Wharf can speak on the server's behalf, where it has no HTTP of its own (stdio). */
export const STATELESS_VERSIONS = ['2026-07-28'];

const META = 'io.modelcontextprotocol/';
export const META_VERSION = `${META}protocolVersion`;
export const META_CAPABILITIES = `${META}clientCapabilities`;
export const META_CLIENT = `${META}clientInfo`;

/** Until 2026-07-28 a client tells so that it gives up; after that it closes the stream. */
export const CANCELLED = 'notifications/cancelled';

/** A request among the messages of one POST. */
export interface PendingRequest {
  /** The id as JSON text, `1` or `"1"`: different ids never share it. */
  id: string;
  method: string;
  /** The tool, the prompt or the URI it is about. */
  subject: string | undefined;
  params: JsonObject;
  /** Where it stands in the body: nothing, or its index in a batch. */
  base: readonly number[];
  /** Of what brings a task's result: the tool that the task runs, once that is known. */
  tool?: string | undefined;
  /** Set once files have been found in its arguments: what answers it may be about them. */
  hasFiles?: true;
  /** What becomes of the answer, beside what holds for every answer to its method. */
  edit?: AnswerEdit;
}

/** The body of one POST. */
export interface ClientMessages {
  bytes: Buffer;
  /** How many messages it holds; a batch (2025-03-26) is an array. */
  isBatch: boolean;
  requests: PendingRequest[];
  /** Ids, as JSON text, of requests to which the client wants no answer any more. */
  cancelled: string[];
  /** Method of the first message, or `response` for an answer to the server. */
  firstMethod: string;
  /** The version its `_meta` names, for 2026-07-28 and later. */
  statelessVersion: string | undefined;
  initialize: PendingRequest | undefined;
}

/**
 * @param maxDepth `limits.depth`
 * @throws GatewayError `json_malformed`, `too_deep`, `request_invalid`
 */
export function parseMessages(bytes: Buffer, maxDepth = Number.POSITIVE_INFINITY): ClientMessages {
  if (nestsDeeper(bytes, maxDepth)) throw new GatewayError('too_deep', { limit: 'limits.depth', allowed: maxDepth });
  let value: JsonValue;
  try {
    value = JSON.parse(bytes.toString('utf8')) as JsonValue;
  } catch (error) {
    throw new GatewayError('json_malformed', { reason: jsonReason(error) }, error);
  }
  const messages = Array.isArray(value) ? value : [value];
  if (messages.length === 0) throw new GatewayError('request_invalid', { reason: 'the batch is empty' });
  const requests: PendingRequest[] = [];
  const cancelled: string[] = [];
  let firstMethod = '';
  let statelessVersion: string | undefined;
  for (const [index, message] of messages.entries()) {
    if (!isObject(message)) throw new GatewayError('request_invalid', { reason: 'a message is not a JSON object' });
    const params = isObject(message.params) ? message.params : {};
    const method = typeof message.method === 'string' ? message.method : undefined;
    firstMethod ||= method ?? 'response';
    const version = metaOf(params)[META_VERSION];
    if (typeof version === 'string' && version >= STATELESS_SINCE) statelessVersion = version;
    if (method === CANCELLED && params.requestId !== undefined) cancelled.push(JSON.stringify(params.requestId));
    if (method !== undefined && message.id !== undefined) {
      refuseOddId(message.id);
      requests.push({
        id: textOfId(message.id, bytes, Array.isArray(value) ? index : undefined),
        method,
        subject: subjectOf(method, params),
        params,
        base: Array.isArray(value) ? [index] : [],
      });
    }
  }
  return {
    bytes,
    isBatch: Array.isArray(value),
    requests,
    cancelled,
    firstMethod,
    statelessVersion,
    initialize: requests.find((request) => request.method === 'initialize'),
  };
}

/** MCP: an id is a string or a number. An object has many spellings, and its answer could come back in another one. */
function refuseOddId(id: JsonValue): void {
  if (typeof id === 'string' || typeof id === 'number') return;
  const kind =
    id === null ? 'null' : Array.isArray(id) ? 'an array' : typeof id === 'object' ? 'an object' : 'a boolean';
  throw new GatewayError('request_invalid', { reason: `an id is a string or a number, and this one is ${kind}` });
}

/** Of a number too large to be one here (64-bit ids are legal JSON), the digits that its client wrote. */
function textOfId(id: JsonValue, bytes: Buffer, index: number | undefined): string {
  if (typeof id !== 'number' || Number.isSafeInteger(id)) return JSON.stringify(id);
  if (index === undefined) return idIn([bytes]) ?? JSON.stringify(id);
  const path = [index, 'id'];
  const { message, at } = locate(bytes, [path], true);
  const range = at(path);
  return range ? message.slice(range.start, range.end).toString('latin1') : JSON.stringify(id);
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

export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** V8's message quotes the input; what a client sent does not belong into logs and answers. */
function jsonReason(error: unknown): string {
  const position = /position (\d+)/.exec(String(error))?.[1];
  return position === undefined ? 'it ends too early or is no JSON' : `unexpected character at position ${position}`;
}
