import { randomUUID } from 'node:crypto';
import type { JsonObject } from '../ports/dialect.js';
import type { ExchangeUpstream } from '../ports/upstream.js';
import { createReader, type HeldMessage } from '../wire/json/reader.js';
import { compileWatchTree } from '../wire/json/watch-tree.js';
import type { Ask } from './catalog.js';
import type { Exchange, RelayDeps } from './exchange.js';
import { toUpstreamHeaders } from './mcp-headers.js';
import { pump } from './pump.js';
import { type ClientMessages, isObject, metaOf, parseMessages } from './request.js';
import type { Session } from './session.js';

/** An answer is found by its id alone. */
const ID_TREE = compileWatchTree({ keys: { id: { capture: 'id' } } });

/** A request of Wharf's own: an id that no client's can equal, and of a stateless client the `_meta` it must carry. */
export function ownRequest(method: string, params: JsonObject, client: ClientMessages | undefined) {
  const id = `wharf-${randomUUID()}`;
  const meta = client?.statelessVersion === undefined ? undefined : metaOf(client.requests[0]?.params ?? {});
  const { progressToken: _, ...own } = meta ?? {};
  const message = { jsonrpc: '2.0', id, method, params: meta ? { ...params, _meta: own } : params };
  return { id: JSON.stringify(id), bytes: Buffer.from(JSON.stringify(message)) };
}

/** The result of an answer to such a request; undefined when it is an error. */
export function ownResult(message: HeldMessage): JsonObject | undefined {
  const answer: unknown = JSON.parse(message.skeleton().toString('utf8'));
  const result = isObject(answer as JsonObject) ? (answer as JsonObject).result : undefined;
  return isObject(result) ? result : undefined;
}

/** Asks an HTTP upstream on the session of the exchange under way. A refusal or a fault is no answer, never an error. */
export function askOverHttp(
  upstream: ExchangeUpstream,
  deps: RelayDeps,
  exchange: Exchange,
  client: ClientMessages | undefined,
  session: Session | undefined,
): Ask {
  return async (method, params) => {
    const own = ownRequest(method, params, client);
    let result: JsonObject | undefined;
    try {
      const headers = toUpstreamHeaders(exchange.headers, parseMessages(own.bytes), session?.upstreamSession);
      const answer = await upstream.open({ method: 'POST', headers, body: own.bytes }, exchange.signal);
      if (answer.kind !== 'json' && answer.kind !== 'sse') {
        answer.body.destroy();
        return undefined;
      }
      const reader = createReader(answer.kind, {
        tree: ID_TREE,
        maxHeld: deps.limits.response,
        maxDepth: deps.limits.depth,
        slotMin: Number.POSITIVE_INFINITY,
        handler: {
          slot: () => ({ write: () => {}, end: () => {} }),
          message: (message) => {
            if (message.captured('id') === own.id) result = ownResult(message);
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
