import { randomUUID } from 'node:crypto';
import { GatewayError } from '../../errors.js';
import { isObject } from '../../json/value.js';
import { toUpstreamHeaders } from '../../mcp/headers.js';
import type { Inquire, OwnAnswer, ReadHeavy } from '../../mcp/inquire.js';
import { RANGE, rangeAt } from '../../mcp/ranges.js';
import { type ClientMessages, META_CAPABILITIES, metaOf, parseMessages } from '../../mcp/request.js';
import type { Limits } from '../../policy/limits.js';
import type { JsonObject, JsonValue } from '../../ports/dialect.js';
import type { ExchangeUpstream, UpstreamAnswer, UpstreamRequest } from '../../ports/upstream.js';
import type { HeldMessage } from '../../wire/json/reader.js';
import { toClientTree } from '../cut/places.js';
import type { Exchange } from '../exchange.js';
import type { Session } from '../session.js';
import { deadline } from './deadline.js';
import { declaredBy } from './declared.js';
import type { UpstreamDeps } from './deps.js';
import { OwnAnswerReader } from './own-answer-reader.js';
import { pump } from './pump.js';

/**
 * A request of Wharf's own: an id that no client's can equal, and of a stateless client the `_meta` it must carry.
 * @param declares what Wharf can, beside what its client can: some servers tell more to whoever says so
 */
export function ownRequest(
  method: string,
  params: JsonObject,
  client: ClientMessages | undefined,
  declares: JsonObject = {},
) {
  const id = `wharf-${randomUUID()}`;
  const meta = client?.statelessVersion === undefined ? undefined : metaOf(client.requests[0]?.params ?? {});
  const { progressToken: _, ...theirs } = meta ?? {};
  const message = { jsonrpc: '2.0', id, method, params: meta ? withMeta(params, theirs, declares) : params };
  return { id: JSON.stringify(id), bytes: Buffer.from(JSON.stringify(message)) };
}

/** What the request declares for itself counts beside what its client does. */
function withMeta(params: JsonObject, theirs: JsonObject, declares: JsonObject): JsonObject {
  const own = metaOf(params);
  const capabilities = { ...objectOr(theirs[META_CAPABILITIES]), ...declares, ...objectOr(own[META_CAPABILITIES]) };
  return { ...params, _meta: { ...theirs, ...own, [META_CAPABILITIES]: capabilities } };
}

function objectOr(value: JsonValue | undefined): JsonObject {
  return isObject(value) ? value : {};
}

/**
 * What such a request was answered with.
 * @param read makes something of a result that has too many values to be made whole; without it there is no answer then
 */
export async function ownAnswer(
  message: HeldMessage,
  { values }: Pick<Limits, 'values'>,
  read?: ReadHeavy,
): Promise<OwnAnswer> {
  if (message.values > values)
    return read && hasResult(message) ? { result: await read(message), bytes: message.size } : undefined;
  const json = message.skeleton();
  const answer: unknown = JSON.parse(json.toString('utf8'));
  const { result, error } = objectOr(answer as JsonValue);
  if (isObject(result)) return { result, bytes: json.length };
  if (!isObject(error) || typeof error.code !== 'number') return undefined;
  const { code, message: text, data } = error;
  return { error: { code, message: typeof text === 'string' ? text : '', ...(data !== undefined && { data }) } };
}

function hasResult(message: HeldMessage): boolean {
  return rangeAt(message, RANGE.result, ['result']) !== undefined;
}

/** Where a list of tools has them. */
const LIST_TREE = toClientTree([]);

/** A request of Wharf's own over HTTP. */
export interface OwnHttpRequest extends Pick<UpstreamRequest, 'path' | 'redirects'> {
  method: string;
  params: JsonObject;
  /** Instead of what the client accepts. */
  accept?: string;
  /** What Wharf can. */
  declares?: JsonObject;
}

/** Sends one on the session of the exchange under way; its answer may be anything. */
export async function openOverHttp(
  upstream: ExchangeUpstream,
  exchange: Exchange,
  client: ClientMessages | undefined,
  session: Session | undefined,
  { method, params, accept, declares, ...request }: OwnHttpRequest,
): Promise<{ id: string; answer: UpstreamAnswer }> {
  const own = ownRequest(method, params, client, declares);
  const headers = toUpstreamHeaders(exchange.headers, parseMessages(own.bytes), session?.upstreamSession);
  if (accept !== undefined) headers.accept = accept;
  const { principal, signal } = exchange;
  const answer = await upstream.open({ ...request, method: 'POST', headers, body: own.bytes, principal }, signal);
  return { id: own.id, answer };
}

/**
 * Asks an HTTP upstream on the session of the exchange under way, within `timeouts.upstream` in all: a stream may talk
 * for ever without an answer, and others wait for it. A fault is no answer, never an error.
 * @throws what the exchange's signal was aborted with: then nobody wants to know, and it is not the server's silence
 */
export function askOverHttp(
  upstream: ExchangeUpstream,
  deps: UpstreamDeps,
  exchange: Exchange,
  client: ClientMessages | undefined,
  session: Session | undefined,
): Inquire {
  return async (method, params, read) => {
    const { server, timeouts } = deps;
    const facts = { server, limit: 'timeouts.upstream', allowed: timeouts.upstream };
    const late = () => new GatewayError('upstream_timeout', facts);
    const { signal, clear } = deadline(exchange.signal, timeouts.upstream, late);
    try {
      return await ask(upstream, deps, { ...exchange, signal }, client, session, { method, params, read });
    } catch (error) {
      exchange.signal.throwIfAborted();
      deps.log.warn({ method, err: error }, 'a request of our own failed');
      return undefined;
    } finally {
      clear();
    }
  };
}

async function ask(
  upstream: ExchangeUpstream,
  deps: UpstreamDeps,
  exchange: Exchange,
  client: ClientMessages | undefined,
  session: Session | undefined,
  { method, params, read }: { method: string; params: JsonObject; read: ReadHeavy | undefined },
): Promise<OwnAnswer> {
  // what the client takes may be less than MCP asks of whoever speaks to a server
  const accept = 'application/json, text/event-stream';
  const own = { method, params, accept, declares: declaredBy(deps) };
  const { id, answer } = await openOverHttp(upstream, exchange, client, session, own);
  const { kind, body } = answer;
  if (kind !== 'json' && kind !== 'sse') {
    body.destroy();
    // 2026-07-28: a method that is not known is a 404
    return answer.status === 404 && client?.statelessVersion !== undefined
      ? { error: { code: -32601, message: 'Method not found' } }
      : undefined;
  }
  const { server, limits, cut } = deps;
  const owner = { principal: exchange.principal, server };
  const reader = new OwnAnswerReader(kind, { id, limits, held: cut.held, owner, ...(read && { tree: LIST_TREE }) });
  const take = (chunk: Buffer) => {
    reader.feed(chunk);
    // a stream may go on
    if (reader.answer && kind === 'sse') body.destroy();
    return undefined;
  };
  try {
    // a stream may well be silent until the answer is ready
    const pace = { ...deps.pace, leastRate: 0 };
    await pump(body, take, { server, pace, due: () => true, signal: exchange.signal });
    reader.end();
  } catch (error) {
    if (!reader.answer) {
      reader.release();
      throw error;
    }
  }
  try {
    return reader.answer && (await ownAnswer(reader.answer, limits, read));
  } finally {
    reader.release();
  }
}
