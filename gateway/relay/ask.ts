import { randomUUID } from 'node:crypto';
import type { JsonObject, JsonValue } from '../ports/dialect.js';
import type { ExchangeUpstream, UpstreamAnswer, UpstreamRequest } from '../ports/upstream.js';
import { createReader, type HeldMessage } from '../wire/json/reader.js';
import { compileWatchTree } from '../wire/json/watch-tree.js';
import type { Inquire, OwnAnswer } from './catalog.js';
import type { Exchange, RelayDeps } from './exchange.js';
import { toUpstreamHeaders } from './mcp-headers.js';
import { pump } from './pump.js';
import { type ClientMessages, isObject, META_CAPABILITIES, metaOf, parseMessages } from './request.js';
import type { Session } from './session.js';
import { declaredBy } from './to-upstream.js';

/** An answer is found by its id alone. */
const ID_TREE = compileWatchTree({ keys: { id: { capture: 'id' } } });

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

/** What such a request was answered with. */
export function ownAnswer(message: HeldMessage): OwnAnswer {
  const answer: unknown = JSON.parse(message.skeleton().toString('utf8'));
  const { result, error } = objectOr(answer as JsonValue);
  if (isObject(result)) return { result };
  if (!isObject(error) || typeof error.code !== 'number') return undefined;
  const { code, message: text, data } = error;
  return { error: { code, message: typeof text === 'string' ? text : '', ...(data !== undefined && { data }) } };
}

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
  const answer = await upstream.open({ ...request, method: 'POST', headers, body: own.bytes }, exchange.signal);
  return { id: own.id, answer };
}

/** Asks an HTTP upstream on the session of the exchange under way. A fault is no answer, never an error. */
export function askOverHttp(
  upstream: ExchangeUpstream,
  deps: RelayDeps,
  exchange: Exchange,
  client: ClientMessages | undefined,
  session: Session | undefined,
): Inquire {
  return async (method, params) => {
    let result: OwnAnswer;
    try {
      // what the client takes may be less than MCP asks of whoever speaks to a server
      const accept = 'application/json, text/event-stream';
      const own = { method, params, accept, declares: declaredBy(deps) };
      const { id, answer } = await openOverHttp(upstream, exchange, client, session, own);
      if (answer.kind !== 'json' && answer.kind !== 'sse') {
        answer.body.destroy();
        // 2026-07-28: a method that is not known is a 404
        return answer.status === 404 && client?.statelessVersion !== undefined
          ? { error: { code: -32601, message: 'Method not found' } }
          : undefined;
      }
      const reader = createReader(answer.kind, {
        tree: ID_TREE,
        maxHeld: deps.limits.response,
        maxDepth: deps.limits.depth,
        slotMin: Number.POSITIVE_INFINITY,
        handler: {
          slot: () => ({ write: () => {}, end: () => {} }),
          message: (message) => {
            if (message.captured('id') === id) result = ownAnswer(message);
          },
        },
      });
      const take = (chunk: Buffer) => {
        reader.feed(chunk);
        if (result) answer.body.destroy();
        return undefined;
      };
      const { server, timeouts } = deps;
      await pump(answer.body, take, { server, idleMs: timeouts.idle, due: () => true, signal: exchange.signal });
    } catch (error) {
      if (!result) deps.log.warn({ method, err: error }, 'a request of our own failed');
    }
    return result;
  };
}
