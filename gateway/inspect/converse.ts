import type { UpstreamAdapterDeps } from '../config/adapter-list.js';
import { GatewayError } from '../errors.js';
import { NEWEST, NEWEST_WITH_SESSIONS } from '../mcp/era.js';
import { META_CAPABILITIES, META_CLIENT, META_VERSION } from '../mcp/meta-keys.js';
import { mayBeOldTransport } from '../mcp/old-transport.js';
import type { JsonObject } from '../ports/json.js';
import type { Upstream } from '../ports/upstream.js';
import { type Conversation, Refusal } from './conversation.js';
import { HttpConversation } from './http-conversation.js';
import { SharedConversation } from './shared-conversation.js';

interface Conversing {
  deps: Pick<UpstreamAdapterDeps, 'name' | 'limits' | 'timeouts'>;
  capabilities: JsonObject;
  clientInfo: { name: string; version: string };
  signal: AbortSignal;
}

/** A conversation that has begun. */
export interface Begun {
  /** Asks, with what every request to this server must say. @throws GatewayError, Refusal */
  ask(method: string, params: JsonObject): Promise<JsonObject>;
  /** The refusal of `initialize`, if there was one: a server without sessions. */
  refusal: Refusal | undefined;
  close(): Promise<void>;
}

/** Begins a session with the first upstream that accepts `initialize`, or that needs none because it does not know it. */
export async function converse(upstreams: readonly Upstream[], conversing: Conversing): Promise<Begun> {
  const { deps, signal } = conversing;
  const withTimeout = <T>(ask: (limited: AbortSignal) => Promise<T>) => bounded(ask, deps, signal);
  const { conversation, meta, refusal } = await begin(upstreams, conversing, withTimeout);
  return {
    ask: (method, params) => withTimeout((limited) => conversation.request(method, { ...meta, ...params }, limited)),
    refusal,
    close: () => conversation.close().catch(() => undefined),
  };
}

type WithTimeout = <T>(ask: (signal: AbortSignal) => Promise<T>) => Promise<T>;

async function begin(upstreams: readonly Upstream[], conversing: Conversing, withTimeout: WithTimeout) {
  const { deps, capabilities, clientInfo } = conversing;
  const hello = { protocolVersion: NEWEST_WITH_SESSIONS.version, capabilities, clientInfo };
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
        return { conversation, meta: statelessMeta(conversation, conversing), refusal: error };
      await conversation.close().catch(() => undefined);
      const isLast = index === upstreams.length - 1;
      if (isLast || !(error instanceof Refusal) || !mayBeOldTransport(error.status ?? 0)) throw error;
    }
  }
  throw new Error('a server has a transport');
}

async function open(upstream: Upstream, deps: Conversing['deps'], withTimeout: WithTimeout): Promise<Conversation> {
  if (upstream.channel === 'exchange') return new HttpConversation(upstream, deps.limits);
  const connection = await withTimeout((signal) => upstream.connect(signal));
  return new SharedConversation(connection, deps.name, deps.limits);
}

/** For a server without sessions: every request describes its client. */
function statelessMeta(conversation: Conversation, { capabilities, clientInfo }: Conversing): JsonObject {
  conversation.agree(NEWEST.version);
  return {
    _meta: {
      [META_VERSION]: NEWEST.version,
      [META_CAPABILITIES]: capabilities,
      [META_CLIENT]: clientInfo,
    },
  };
}

/**
 * Ends work that takes longer than a person at a terminal waits, which is less than a tool may work
 * (`timeouts.upstream`), or when the caller gives up.
 */
async function bounded<T>(
  ask: (signal: AbortSignal) => Promise<T>,
  { name, timeouts }: Conversing['deps'],
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
