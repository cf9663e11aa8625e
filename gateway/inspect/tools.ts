import type { AdapterList, UpstreamDeps } from '../config/adapter-list.js';
import type { ServerConfig } from '../config/config.js';
import { GatewayError } from '../errors.js';
import type { JsonObject } from '../ports/json.js';
import type { Upstream } from '../ports/upstream.js';
import { isObject } from './argument.js';
import { type Conversation, Refusal } from './conversation.js';
import { HttpConversation } from './http-conversation.js';
import { SharedConversation } from './shared-conversation.js';

/** The last version with sessions, which every server of before 2026-07-28 can bring down to its own. */
const SESSION_VERSION = '2025-11-25';
const STATELESS_VERSION = '2026-07-28';

/** An answer to `initialize` with one of these may come from a server that only knows HTTP+SSE (2024-11-05). */
const LEGACY_STATUSES = new Set([400, 404, 405]);

/** Pages of tools/list: a cursor that never ends must not be followed for ever. */
const MOST_PAGES = 1000;

const CLIENT_INFO = { name: 'wharf-inspect', version: '1' };

interface Asking {
  adapters: AdapterList;
  deps: UpstreamDeps;
  signal: AbortSignal;
}

/**
 * Asks a server for its tools, page by page, in a session of its own that is over afterwards.
 * @throws GatewayError, Refusal
 */
export async function* toolsOf(server: ServerConfig, { adapters, deps, signal }: Asking): AsyncGenerator<JsonObject[]> {
  const names =
    server.transport === 'probed' ? (['streamable-http', 'legacy-sse'] as const) : ([server.transport] as const);
  const upstreams = await Promise.all(names.map((name) => adapters.upstream[name].create(server.settings, deps)));
  const withTimeout = <T>(ask: (bounded: AbortSignal) => Promise<T>) => bounded(ask, deps, signal);
  const capabilities: JsonObject = Object.assign({}, ...adapters.dialects.map(({ declares }) => declares ?? {}));
  try {
    const { conversation, meta, refusal } = await begin(upstreams, deps, capabilities, withTimeout);
    try {
      yield* pages(conversation, meta, withTimeout, refusal);
    } finally {
      await conversation.close().catch(() => undefined);
    }
  } finally {
    await Promise.allSettled(upstreams.map((upstream) => upstream.close()));
  }
}

type WithTimeout = <T>(ask: (signal: AbortSignal) => Promise<T>) => Promise<T>;

/** @param refusal of `initialize`: told when the server refuses to do without it as well */
async function* pages(
  conversation: Conversation,
  meta: JsonObject,
  withTimeout: WithTimeout,
  refusal: Refusal | undefined,
) {
  const seen = new Set<string>();
  let cursor: string | undefined;
  do {
    const params = { ...meta, ...(cursor === undefined ? {} : { cursor }) };
    const asking = withTimeout((signal) => conversation.request('tools/list', params, signal));
    const result = await asking.catch((error: unknown) => {
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

/** The first upstream that takes `initialize`, or, where it is refused as unknown, one that needs none. */
async function begin(
  upstreams: readonly Upstream[],
  deps: UpstreamDeps,
  capabilities: JsonObject,
  withTimeout: WithTimeout,
) {
  const hello = { protocolVersion: SESSION_VERSION, capabilities, clientInfo: CLIENT_INFO };
  for (const [index, upstream] of upstreams.entries()) {
    const conversation = await open(upstream, deps, withTimeout);
    try {
      const result = await withTimeout((signal) => conversation.request('initialize', hello, signal));
      conversation.agree(typeof result.protocolVersion === 'string' ? result.protocolVersion : SESSION_VERSION);
      await withTimeout((signal) => conversation.notify('notifications/initialized', signal));
      return { conversation, meta: {}, refusal: undefined };
    } catch (error) {
      if (error instanceof Refusal && error.isMcp)
        return { conversation, meta: statelessMeta(conversation, capabilities), refusal: error };
      await conversation.close().catch(() => undefined);
      const isLast = index === upstreams.length - 1;
      if (isLast || !(error instanceof Refusal) || !LEGACY_STATUSES.has(error.status ?? 0)) throw error;
    }
  }
  throw new Error('a server has a transport');
}

async function open(upstream: Upstream, deps: UpstreamDeps, withTimeout: WithTimeout): Promise<Conversation> {
  if (upstream.channel === 'exchange') return new HttpConversation(upstream, deps.limits);
  const connection = await withTimeout((signal) => upstream.connect(signal));
  return new SharedConversation(connection, deps.name, deps.limits);
}

/** 2026-07-28: no session, and every request says who asks. */
function statelessMeta(conversation: Conversation, capabilities: JsonObject): JsonObject {
  conversation.agree(STATELESS_VERSION);
  const prefix = 'io.modelcontextprotocol/';
  return {
    _meta: {
      [`${prefix}protocolVersion`]: STATELESS_VERSION,
      [`${prefix}clientCapabilities`]: capabilities,
      [`${prefix}clientInfo`]: CLIENT_INFO,
    },
  };
}

/**
 * Ends what takes longer than somebody at a terminal waits, which is less than a tool may work (`timeouts.upstream`), or
 * when the caller gives up.
 */
async function bounded<T>(
  ask: (signal: AbortSignal) => Promise<T>,
  { name, timeouts }: UpstreamDeps,
  signal: AbortSignal,
): Promise<T> {
  const timer = new AbortController();
  const limit = timeouts.queue < timeouts.upstream ? 'queue' : 'upstream';
  const facts = { server: name, limit: `timeouts.${limit}`, allowed: timeouts[limit] };
  const handle = setTimeout(() => timer.abort(new GatewayError('upstream_timeout', facts)), timeouts[limit]);
  try {
    return await ask(AbortSignal.any([signal, timer.signal]));
  } finally {
    clearTimeout(handle);
  }
}
