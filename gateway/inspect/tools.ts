import type { AdapterList, UpstreamAdapterDeps } from '../config/adapter-list.js';
import type { ServerConfig } from '../config/config.js';
import { transportsToTry } from '../config/transports.js';
import { GatewayError } from '../errors.js';
import { isObject } from '../json/value.js';
import type { JsonObject } from '../ports/json.js';
import { Refusal } from './conversation.js';
import { type Begun, converse } from './converse.js';

/** Pages of tools/list: an endless cursor must not be followed for ever. */
const MOST_PAGES = 1000;

const CLIENT_INFO = { name: 'wharf-inspect', version: '1' };

export interface Asking {
  adapters: AdapterList;
  deps: UpstreamAdapterDeps;
  signal: AbortSignal;
}

/**
 * Asks a server for its tools, page by page, in its own session.
 * @throws GatewayError, Refusal
 */
export async function* toolsOf(server: ServerConfig, { adapters, deps, signal }: Asking): AsyncGenerator<JsonObject[]> {
  const upstreams = await Promise.all(
    transportsToTry(server.transport).map((name) => adapters.upstream[name].create(server.settings, deps)),
  );
  const capabilities: JsonObject = Object.assign({}, ...adapters.dialects.map(({ declares }) => declares ?? {}));
  try {
    const begun = await converse(upstreams, { deps, capabilities, clientInfo: CLIENT_INFO, signal });
    try {
      yield* toolPages(begun);
    } finally {
      await begun.close();
    }
  } finally {
    await Promise.allSettled(upstreams.map((upstream) => upstream.close()));
  }
}

/** The tools of a conversation's server, page by page. */
async function* toolPages({ ask, refusal }: Begun): AsyncGenerator<JsonObject[]> {
  const seen = new Set<string>();
  let cursor: string | undefined;
  do {
    const result = await ask('tools/list', cursor === undefined ? {} : { cursor }).catch((error: unknown) => {
      // reported if the server also refuses requests without a session
      throw error instanceof Refusal && refusal !== undefined ? refusal : error;
    });
    yield Array.isArray(result.tools) ? result.tools.filter(isObject) : [];
    cursor = typeof result.nextCursor === 'string' ? result.nextCursor : undefined;
    if (cursor === undefined) return;
    if (seen.has(cursor) || seen.size === MOST_PAGES) {
      throw new GatewayError('upstream_invalid', { reason: 'the pages of its tools/list do not end' });
    }
    seen.add(cursor);
  } while (cursor !== undefined);
}
