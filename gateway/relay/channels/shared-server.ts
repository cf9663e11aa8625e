import { GatewayError } from '../../errors.js';
import { checkStatelessRequest } from '../../mcp/headers.js';
import type { Inquire } from '../../mcp/inquire.js';
import type { SharedConnection, SharedUpstream } from '../../ports/upstream.js';
import type { HeldMessage } from '../../wire/json/reader.js';
import type { WatchTree } from '../../wire/json/watch-tree.js';
import type { Asked, Caller, Sender } from '../caller.js';
import type { Exchange } from '../exchange.js';
import type { PendingRequest } from '../pending-request.js';
import type { Session } from '../session.js';
import { channelTree } from './channel-message.js';
import type { ChannelDeps } from './deps.js';
import { OpenChannels } from './open-channels.js';
import { openSession } from './open-session.js';
import { SharedSession } from './shared-session.js';

/** Errors that mean there is no room for another channel. */
const FULL = new Set(['process_limit', 'connection_limit']);

/** Interval between two checks for idle channels. */
const IDLE_CHECK_MS = 30_000;

/**
 * One server behind a channel that all messages of a session share. A session has its own channel; the stateless
 * clients of one principal share another, on which their ids are renamed.
 */
export class SharedServer {
  readonly #deps: ChannelDeps;
  readonly #upstream: SharedUpstream;
  readonly #channels = new OpenChannels();
  readonly #sessions = new Map<string, SharedSession>();
  readonly #stateless = new Map<string, Promise<SharedSession>>();
  readonly #idleCheck: NodeJS.Timeout;
  readonly #tree: WatchTree;

  constructor(deps: ChannelDeps, upstream: SharedUpstream) {
    this.#deps = deps;
    this.#upstream = upstream;
    this.#tree = channelTree([...deps.cut.places.values()].map(({ place }) => place));
    this.#idleCheck = setInterval(() => void this.#closeIdle(), Math.min(IDLE_CHECK_MS, deps.timeouts.session));
    this.#idleCheck.unref();
  }

  /** Channels open now. */
  get size(): number {
    return this.#channels.size;
  }

  async post(asked: Asked): Promise<void> {
    const { exchange, messages, session } = asked;
    if (!messages.era.hasSessions) {
      checkStatelessRequest(messages);
      const channel = await this.#statelessChannel(exchange);
      return channel.post(asked);
    }
    if (messages.initialize) return this.#initialize(asked, messages.initialize);
    if (!session) throw new GatewayError('session_required');
    return this.#channelOf(session).post(asked);
  }

  /** Asks the server on the client's own channel. */
  inquire({ exchange, messages, session }: Sender): Inquire {
    return async (method, params, read) => {
      const hasSessions = messages?.era.hasSessions ?? true;
      if (hasSessions && !session) return undefined;
      const channel = hasSessions ? this.#channelOf(session as Session) : await this.#statelessChannel(exchange);
      return channel.inquire(method, params, messages, read);
    };
  }

  async get(caller: Caller): Promise<void> {
    const { session } = caller;
    if (!session) throw new GatewayError('method_not_allowed', { method: 'GET without a session', allow: 'POST' });
    return this.#channelOf(session).openGet(caller);
  }

  async remove({ exchange }: Caller, session: Session): Promise<void> {
    const channel = this.#channelOf(session);
    await this.#deps.sessions.end(session.id);
    await channel.close();
    exchange.reply.all({ status: 204, body: 'other' });
  }

  /** A session was ended to make room for another. */
  async forget({ id }: Session): Promise<void> {
    await this.#sessions.get(id)?.close();
  }

  async close(): Promise<void> {
    clearInterval(this.#idleCheck);
    await Promise.allSettled(this.#stateless.values());
    await Promise.all([...this.#channels].map((channel) => channel.close()));
  }

  /** A channel lives in one process: after a restart, or on another replica, the client must initialize again. */
  #channelOf(session: Session): SharedSession {
    const channel = this.#sessions.get(session.id);
    if (!channel) throw new GatewayError('session_unknown');
    return channel;
  }

  async #initialize(asked: Asked, initialize: PendingRequest): Promise<void> {
    const { exchange } = asked;
    const connection = await this.#connect(exchange.signal, exchange.principal);
    let id: string | undefined;
    const channel: SharedSession = new SharedSession({
      deps: this.#deps,
      connection,
      principal: exchange.principal,
      tree: this.#tree,
      isShared: false,
      closed: () => {
        this.#channels.delete(channel);
        if (id === undefined || !this.#sessions.delete(id)) return;
        this.#deps.sessions.end(id).catch((error) => this.#deps.log.warn({ err: error }, 'could not end a session'));
      },
    });
    this.#channels.add(channel);
    const opened = async (message: HeldMessage) => {
      const session = await openSession(message, { exchange, initialize, channel: 'shared' }, this.#deps);
      if (!session) return undefined;
      // the client left while the session was being stored, and will never learn its id
      if (channel.isOver) {
        await this.#deps.sessions.end(session.id);
        return undefined;
      }
      id = session.id;
      this.#sessions.set(id, channel);
      return session;
    };
    try {
      await channel.post(asked, opened);
    } finally {
      // a process may take seconds to end, and the caller need not wait
      if (id === undefined)
        channel.close().catch((error) => this.#deps.log.warn({ err: error }, 'could not end a channel'));
    }
  }

  #statelessChannel(exchange: Exchange): Promise<SharedSession> {
    const { principal } = exchange;
    const open = this.#stateless.get(principal);
    if (open) return open;
    const opening = this.#openStateless(principal, () => {
      if (this.#stateless.get(principal) === opening) this.#stateless.delete(principal);
    });
    this.#stateless.set(principal, opening);
    opening.catch(() => this.#stateless.delete(principal));
    return opening;
  }

  async #openStateless(principal: string, closed: () => void): Promise<SharedSession> {
    // not the exchange's own signal: the channel outlives the request that opened it
    const connection = await this.#connect(new AbortController().signal, principal);
    const channel: SharedSession = new SharedSession({
      deps: this.#deps,
      connection,
      principal,
      tree: this.#tree,
      isShared: true,
      closed: () => {
        this.#channels.delete(channel);
        closed();
      },
    });
    this.#channels.add(channel);
    return channel;
  }

  /** Without room, an idle session makes it: its client initializes again when it comes back. */
  async #connect(signal: AbortSignal, principal: string): Promise<SharedConnection> {
    for (;;) {
      try {
        return await this.#upstream.connect(signal, principal);
      } catch (error) {
        if (!(error instanceof GatewayError) || !FULL.has(error.code) || signal.aborted) throw error;
        const spared = this.#channels.spare(principal, error.facts.full === 'principal', this.#deps.clock.now());
        if (!spared) throw error;
        this.#deps.log.info({ principal: spared.principal }, 'an idle session was ended to make room for another');
        this.#deps.metrics.count('wharf_ended_sessions_total', { server: this.#deps.server });
        await spared.close();
      }
    }
  }

  async #closeIdle(): Promise<void> {
    const now = this.#deps.clock.now();
    const latest = now - this.#deps.timeouts.session;
    for (const channel of this.#channels) if ((channel.idleSince ?? now) < latest) await channel.close();
  }
}
