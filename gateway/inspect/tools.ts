import type { AdapterList, UpstreamDeps } from '../config/adapter-list.js';
import type { ServerConfig } from '../config/config.js';
import { transportsToTry } from '../config/transports.js';
import { GatewayError } from '../errors.js';
import { isObject } from '../json/value.js';
import { NEWEST, NEWEST_WITH_SESSIONS } from '../mcp/era.js';
import { META_CAPABILITIES, META_CLIENT, META_VERSION } from '../mcp/request.js';
import type { JsonObject } from '../ports/json.js';
import type { Upstream } from '../ports/upstream.js';
import { type Conversation, Refusal } from './conversation.js';
import { HttpConversation } from './http-conversation.js';
import { SharedConversation } from './shared-conversation.js';

/** A server that answers `initialize` with one of these may know only HTTP+SSE (2024-11-05). */
const LEGACY_STATUSES = new Set([400, 404, 405]);

/** Pages of tools/list: an endless cursor must not be followed for ever. */
const MOST_PAGES = 1000;

const CLIENT_INFO = { name: 'wharf-inspect', version: '1' };

interface Asking {
  adapters: AdapterList;
  deps: UpstreamDeps;
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

/** @param refusal the refusal of `initialize`: reported if the server also refuses requests without a session */
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

/** The first upstream that accepts `initialize`, or one that needs none because it does not know the method. */
async function begin(
  upstreams: readonly Upstream[],
  deps: UpstreamDeps,
  capabilities: JsonObject,
  withTimeout: WithTimeout,
) {
  const hello = { protocolVersion: NEWEST_WITH_SESSIONS.version, capabilities, clientInfo: CLIENT_INFO };
  for (const [index, upstream] of upstreams.entries()) {
    const conversation = await open(upstream, deps, withTimeout);
    try {
      const result = await withTimeout((signal) => conversation.request('initialize', hello, signal));
      conversation.agree(
        typeof result.protocolVersion === 'string' ? result.protocolVersion : NEWEST_WITH_SESSIONS.version,
      );
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

/** For a server without sessions: every request describes its client. */
function statelessMeta(conversation: Conversation, capabilities: JsonObject): JsonObject {
  conversation.agree(NEWEST.version);
  return {
    _meta: {
      [META_VERSION]: NEWEST.version,
      [META_CAPABILITIES]: capabilities,
      [META_CLIENT]: CLIENT_INFO,
    },
  };
}

/**
 * Ends work that takes longer than a person at a terminal waits, which is less than a tool may work
 * (`timeouts.upstream`), or when the caller gives up.
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
