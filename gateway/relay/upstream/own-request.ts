import { randomUUID } from 'node:crypto';
import { GatewayError } from '../../errors.js';
import { isObject } from '../../json/value.js';
import { toUpstreamHeaders } from '../../mcp/headers.js';
import type { Inquire, OwnAnswer, ReadHeavy } from '../../mcp/inquire.js';
import { META_CAPABILITIES } from '../../mcp/meta-keys.js';
import { RANGE, rangeAt } from '../../mcp/ranges.js';
import { type ClientMessages, metaOf, parseMessages } from '../../mcp/request.js';
import type { Limits } from '../../policy/limits.js';
import type { JsonObject, JsonValue } from '../../ports/dialect.js';
import type { Owner } from '../../ports/owner.js';
import type { ExchangeUpstream, UpstreamAnswer, UpstreamRequest } from '../../ports/upstream.js';
import { parseJson } from '../../wire/json/parse.js';
import type { HeldMessage } from '../../wire/json/reader.js';
import type { Sender } from '../caller.js';
import { toClientTree } from '../cut/places.js';
import { endSoon } from './body-bounds.js';
import { deadline } from './deadline.js';
import { declaredBy } from './declared.js';
import type { UpstreamDeps } from './deps.js';
import { OwnAnswerReader } from './own-answer-reader.js';
import { pump } from './pump.js';
import { mayBeFault, noteFault } from './server-faults.js';

const UNKNOWN_METHOD = -32601;

/**
 * A request of Wharf's own: its id cannot equal a client's; for a stateless client it carries the required `_meta`.
 * @param declares Wharf's capabilities, besides the client's: some servers disclose more to clients that declare them
 */
export function ownRequest(
  method: string,
  params: JsonObject,
  client: ClientMessages | undefined,
  declares: JsonObject = {},
) {
  const id = `wharf-${randomUUID()}`;
  const meta = client?.era.describesClient ? metaOf(client.requests[0]?.params ?? {}) : undefined;
  const { progressToken: _, ...theirs } = meta ?? {};
  const message = { jsonrpc: '2.0', id, method, params: meta ? withMeta(params, theirs, declares) : params };
  return { id: JSON.stringify(id), bytes: Buffer.from(JSON.stringify(message)) };
}

/** The request's own declarations are added to the client's. */
function withMeta(params: JsonObject, theirs: JsonObject, declares: JsonObject): JsonObject {
  const own = metaOf(params);
  const capabilities = { ...objectOr(theirs[META_CAPABILITIES]), ...declares, ...objectOr(own[META_CAPABILITIES]) };
  return { ...params, _meta: { ...theirs, ...own, [META_CAPABILITIES]: capabilities } };
}

function objectOr(value: JsonValue | undefined): JsonObject {
  return isObject(value) ? value : {};
}

/** How the answer to such a request is read. */
interface OwnReading {
  limits: Pick<Limits, 'values'>;
  /** Whose work it is. */
  owner: Owner;
  /** Reads a result part by part; without it one with too many values to be parsed counts as no answer. */
  read: ReadHeavy | undefined;
}

/**
 * The answer to such a request.
 * @param whole its text, where something was cut out of the message
 */
export async function ownAnswer(
  message: HeldMessage,
  { limits: { values }, owner, read }: OwnReading,
  whole?: Buffer,
): Promise<OwnAnswer> {
  if (read && hasResult(message)) return { result: await read(message, owner), bytes: message.size };
  if (message.values > values) return undefined;
  const json = whole ?? message.skeleton();
  const answer: unknown = parseJson(json.toString('utf8'));
  const { result, error } = objectOr(answer as JsonValue);
  if (isObject(result)) return { result, bytes: json.length };
  if (!isObject(error) || typeof error.code !== 'number') return undefined;
  const { code, message: text, data } = error;
  return { error: { code, message: typeof text === 'string' ? text : '', ...(data !== undefined && { data }) } };
}

function hasResult(message: HeldMessage): boolean {
  const result = rangeAt(message, RANGE.result, ['result']);
  return result !== undefined && message.slice(result.start, result.start + 1).toString('latin1') === '{';
}

/** Where a list of tools is in a message. */
const LIST_TREE = toClientTree([]);

/** A request of Wharf's own over HTTP. */
export interface OwnHttpRequest extends Pick<UpstreamRequest, 'path' | 'redirects'> {
  method: string;
  params: JsonObject;
  /** Replaces the client's Accept header. */
  accept?: string;
  /** Wharf's capabilities. */
  declares?: JsonObject;
}

/** What such a request is answered with: anything. */
export interface OpenedAnswer {
  /** Of the request, as JSON text. */
  id: string;
  answer: UpstreamAnswer;
}

/** Sends one in the session of the current exchange. */
export async function openOverHttp(
  upstream: ExchangeUpstream,
  { exchange, messages, session }: Sender,
  { method, params, accept, declares, ...request }: OwnHttpRequest,
): Promise<OpenedAnswer> {
  const own = ownRequest(method, params, messages, declares);
  const headers = toUpstreamHeaders(exchange.headers, parseMessages(own.bytes), session?.upstreamSession);
  if (accept !== undefined) headers.accept = accept;
  const { identity, principal, signal } = exchange;
  const sent = { ...request, method: 'POST', headers, body: own.bytes, principal, identity } as const;
  const answer = await upstream.open(sent, signal);
  return { id: own.id, answer };
}

/**
 * Sends a request to an HTTP upstream in the session of the current exchange, within `timeouts.upstream` in total: a
 * stream may go on for ever without an answer, and others wait for it. A failure counts as no answer, never as an
 * error.
 * @throws the abort reason of the exchange's signal: then the answer is no longer wanted, and the server was not silent
 */
export function askOverHttp(upstream: ExchangeUpstream, deps: UpstreamDeps, sender: Sender): Inquire {
  const { exchange } = sender;
  return async (method, params, read) => {
    const { server, timeouts } = deps;
    const facts = { server, limit: 'timeouts.upstream', allowed: timeouts.upstream };
    const late = () => new GatewayError('upstream_timeout', facts);
    const { signal, clear } = deadline(exchange.signal, timeouts.upstream, late);
    try {
      const within = { ...sender, exchange: { ...exchange, signal } };
      return await ask(upstream, deps, within, { method, params, read });
    } catch (error) {
      exchange.signal.throwIfAborted();
      const leftOut = deps.fewLines.take(`own request ${server}`);
      if (leftOut) deps.log.warn({ method, err: error, ...leftOut }, "a request of Wharf's own failed");
      return undefined;
    } finally {
      clear();
    }
  };
}

async function ask(
  upstream: ExchangeUpstream,
  deps: UpstreamDeps,
  sender: Sender,
  { method, params, read }: { method: string; params: JsonObject; read: ReadHeavy | undefined },
): Promise<OwnAnswer> {
  // the client may accept less than MCP requires of a client
  const accept = 'application/json, text/event-stream';
  const own = { method, params, accept, declares: declaredBy(deps) };
  const { id, answer } = await openOverHttp(upstream, sender, own);
  const { kind, body } = answer;
  const isUnknown = answer.status === sender.messages?.era.statusOfError.get(UNKNOWN_METHOD);
  if (!isUnknown && mayBeFault(answer)) noteFault(deps, answer, { method, isRequest: true }, answer.whole);
  if (kind !== 'json' && kind !== 'sse') {
    body.destroy();
    return isUnknown ? { error: { code: UNKNOWN_METHOD, message: 'Method not found' } } : undefined;
  }
  const { server, limits, cut } = deps;
  const { principal, signal } = sender.exchange;
  const owner = { principal, server };
  const reader = new OwnAnswerReader(kind, { id, limits, held: cut.held, owner, ...(read && { tree: LIST_TREE }) });
  let end: NodeJS.Timeout | undefined;
  const found = () => {
    if (!reader.answer) return;
    // a stream may continue; the end of another body is on its way, and frees its connection
    if (kind === 'sse') body.destroy();
    else end ??= endSoon(body);
  };
  const take = (chunk: Buffer) => {
    const reading = reader.feed(chunk);
    if (reading) return reading.then(found);
    found();
    return undefined;
  };
  try {
    // a stream may be silent until the answer is ready
    const pace = { ...deps.pace, leastRate: 0 };
    await pump(body, take, { server, principal, pace, due: () => true, signal });
    reader.end();
  } catch (error) {
    if (!reader.answer) {
      reader.release();
      throw error;
    }
  } finally {
    clearTimeout(end);
  }
  try {
    return reader.answer && (await ownAnswer(reader.answer, { limits, owner, read }));
  } finally {
    reader.release();
  }
}
