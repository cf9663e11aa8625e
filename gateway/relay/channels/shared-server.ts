import { GatewayError } from '../../errors.js';
import { checkSessionVersion, checkStatelessRequest } from '../../mcp/headers.js';
import type { Inquire } from '../../mcp/inquire.js';
import { readMessages } from '../../mcp/request.js';
import type { Identity } from '../../ports/identity.js';
import type { SharedConnection, SharedUpstream } from '../../ports/upstream.js';
import type { HeldMessage } from '../../wire/json/reader.js';
import type { Asked, Caller, Sender } from '../caller.js';
import type { Exchange } from '../exchange.js';
import type { PendingRequest } from '../pending-request.js';
import type { Session } from '../session.js';
import type { ChannelDeps } from './deps.js';
import { OpenChannels } from './open-channels.js';
import { openSession } from './open-session.js';
import { SharedSession } from './shared-session.js';

/** Errors that mean there is no room for another channel. */
const FULL = new Set(['process_limit', 'connection_limit']);

/** Interval between two checks for idle channels. */
const IDLE_CHECK_MS = 30_000;

/** What is open to one server, for callers of all limits together. */
class Open {
  readonly channels = new OpenChannels();
  readonly sessions = new Map<string, SharedSession>();
  /** By caller and limits, so that no message is judged by those of another. */
  readonly stateless = new Map<string, Promise<SharedSession>>();
  /** Removals under way of sessions whose channel has ended. */
  readonly removals = new Set<Promise<void>>();
  /** SharedServers that share this. */
  count = 0;
}

/**
 * One server behind a channel that all messages of a session share. A session has its own channel; the stateless
 * clients of one principal share another, on which their ids are renamed.
 */
export class SharedServer {
  readonly #deps: ChannelDeps;
  readonly #upstream: SharedUpstream;
  readonly #open: Open;
  readonly #number: number;
  readonly #idleCheck: NodeJS.Timeout | undefined;

  /** @param kin the same server for callers with other limits: a session keeps those with which it began */
  constructor(deps: ChannelDeps, upstream: SharedUpstream, kin?: SharedServer) {
    this.#deps = deps;
    this.#upstream = upstream;
    this.#open = kin ? kin.#open : new Open();
    this.#number = this.#open.count++;
    if (kin) return;
    this.#idleCheck = setInterval(() => void this.#closeIdle(), Math.min(IDLE_CHECK_MS, deps.timeouts.session));
    this.#idleCheck.unref();
  }

  /** Channels open now. */
  get size(): number {
    return this.#open.channels.size;
  }

  /** @param ofCall for a call whose limits are lower than those of its session */
  async post(asked: Asked, ofCall?: ChannelDeps): Promise<void> {
    const { exchange, messages, session } = asked;
    if (!messages.era.hasSessions) {
      checkStatelessRequest(messages);
      const channel = await this.#statelessChannel(exchange);
      const end = channel.keep();
      return channel.post(asked, { ofCall }).finally(end);
    }
    if (messages.initialize) return this.#initialize(asked, messages.initialize);
    if (!session) throw new GatewayError('session_required');
    if (
      messages.requests.length === 0 &&
      !this.#open.sessions.has(session.id) &&
      (await this.#passedOn(asked, session))
    )
      return;
    return this.#askedIn(session, exchange).post(asked, { ofCall });
  }

  /** Leaves what a client owes its server to the replica that has the session, where that waits for it. */
  async #passedOn({ exchange, messages }: Asked, session: Session): Promise<boolean> {
    checkSessionVersion(exchange.headers, session.version);
    if (!(await this.#deps.sessions.owed.leave(session.id, messages.bytes))) return false;
    exchange.reply.all({ status: 202, body: 'other' });
    return true;
  }

  /** Keeps the channel of a session, if it is here, while a call is on its way to it. @returns what ends that */
  keep({ id }: Session): (() => void) | undefined {
    return this.#open.sessions.get(id)?.keep();
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
    const { exchange, session } = caller;
    if (!session) throw new GatewayError('method_not_allowed', { method: 'GET without a session', allow: 'POST' });
    return this.#askedIn(session, exchange).openGet(caller);
  }

  async remove({ exchange }: Caller, session: Session): Promise<void> {
    const channel = this.#askedIn(session, exchange);
    await this.#deps.sessions.end(session.id);
    await channel.close();
    exchange.reply.all({ status: 204, body: 'other' });
  }

  /** A session was ended to make room for another. Never rejects. */
  async forget({ id }: Session): Promise<void> {
    const channel = this.#open.sessions.get(id);
    if (channel) await this.#end(channel);
  }

  async close(): Promise<void> {
    clearInterval(this.#idleCheck);
    await Promise.allSettled(this.#open.stateless.values());
    await Promise.all([...this.#open.channels].map((channel) => this.#end(channel)));
    await Promise.all(this.#open.removals);
  }

  #removeSession(id: string): void {
    const { sessions, log } = this.#deps;
    const { removals } = this.#open;
    const removal = sessions
      .end(id)
      .catch((error) => log.warn({ err: error }, 'could not end a session'))
      .finally(() => removals.delete(removal));
    removals.add(removal);
  }

  /** A channel lives in one process: after a restart, or on another replica, the client must initialize again. */
  #channelOf(session: Session): SharedSession {
    const channel = this.#open.sessions.get(session.id);
    if (!channel) throw new GatewayError('session_unknown');
    return channel;
  }

  /** The channel of a session, for a request of its client's. */
  #askedIn(session: Session, { headers }: Exchange): SharedSession {
    const channel = this.#channelOf(session);
    checkSessionVersion(headers, session.version);
    return channel;
  }

  async #initialize(asked: Asked, initialize: PendingRequest): Promise<void> {
    const { exchange } = asked;
    await this.#deps.sessions.check();
    await this.#endProbe(exchange);
    const { connection, end } = await this.#connect(exchange.signal, exchange.identity);
    let id: string | undefined;
    let leave: (() => void) | undefined;
    const channel: SharedSession = new SharedSession({
      deps: this.#deps,
      connection,
      principal: exchange.principal,
      isShared: false,
      closed: () => {
        end();
        leave?.();
        this.#open.channels.delete(channel);
        if (id === undefined || !this.#open.sessions.delete(id)) return;
        this.#removeSession(id);
      },
    });
    this.#open.channels.add(channel);
    const opened = async (message: HeldMessage) => {
      const session = await openSession(message, { exchange, initialize, channel: 'shared' }, this.#deps);
      if (!session) return undefined;
      // the client left while the session was being stored, and will never learn its id
      if (channel.isOver) {
        await this.#deps.sessions.end(session.id);
        return undefined;
      }
      id = session.id;
      this.#open.sessions.set(id, channel);
      leave = this.#deps.sessions.owed.add(id, {
        ...{ principal: session.principal, server: session.server },
        isBusy: () => channel.restingSince === undefined,
        deliver: async (body) => channel.others(await readMessages(body, this.#deps.limits, session)),
      });
      return session;
    };
    try {
      await channel.post(asked, { opened });
    } finally {
      // a process may take seconds to end, and the caller need not wait
      if (id === undefined) void this.#end(channel);
    }
  }

  /**
   * Ends the channel on which the same client has learned that the server wants a session: a second process beside it would
   * fail where a server keeps a port or a file to itself.
   */
  async #endProbe(exchange: Exchange): Promise<void> {
    const channel = await this.#open.stateless.get(this.#keyOf(exchange))?.catch(() => undefined);
    if (channel?.isProbe) await channel.close();
  }

  #keyOf({ identity }: Exchange): string {
    return `${this.#number} ${identity.principal}`;
  }

  #statelessChannel(exchange: Exchange): Promise<SharedSession> {
    const { identity } = exchange;
    const { stateless } = this.#open;
    const key = this.#keyOf(exchange);
    const open = stateless.get(key);
    if (open) return open;
    const opening = this.#openStateless(identity, () => {
      if (stateless.get(key) === opening) stateless.delete(key);
    });
    stateless.set(key, opening);
    opening.catch(() => stateless.delete(key));
    return opening;
  }

  async #openStateless(identity: Identity, closed: () => void): Promise<SharedSession> {
    // not the exchange's own signal: the channel outlives the request that opened it
    const { connection, end } = await this.#connect(new AbortController().signal, identity);
    const channel: SharedSession = new SharedSession({
      deps: this.#deps,
      connection,
      principal: identity.principal,
      isShared: true,
      closed: () => {
        end();
        this.#open.channels.delete(channel);
        closed();
      },
    });
    this.#open.channels.add(channel);
    return channel;
  }

  /**
   * Without room, an idle session makes it: its client initializes again when it comes back.
   * @returns the connection, and what to call, any number of times, once it is over
   */
  async #connect(signal: AbortSignal, identity: Identity): Promise<{ connection: SharedConnection; end: () => void }> {
    const { principal } = identity;
    for (;;) {
      let end = (): void => undefined;
      try {
        end = this.#count(identity);
        return { connection: await this.#upstream.connect(signal, principal), end };
      } catch (error) {
        end();
        if (!(error instanceof GatewayError) || !FULL.has(error.code) || signal.aborted) throw error;
        const spared = this.#open.channels.spare(principal, error.facts.full === 'principal', this.#deps.clock.ticks());
        if (!spared) throw error;
        this.#deps.log.info({ principal: spared.principal }, 'an idle session was ended to make room for another');
        this.#deps.metrics.count('wharf_ended_sessions_total', { server: this.#deps.server });
        await spared.close();
      }
    }
  }

  /** Counts a process for its caller, over all servers. @throws GatewayError `process_limit` */
  #count(identity: Identity): () => void {
    const { callers, server } = this.#deps;
    return this.#upstream.transport === 'stdio' ? callers.beginProcess(identity, server) : () => undefined;
  }

  async #closeIdle(): Promise<void> {
    const now = this.#deps.clock.ticks();
    const latest = now - this.#deps.timeouts.session;
    const idle = [...this.#open.channels].filter((channel) => (channel.idleSince ?? now) < latest);
    // all together: a process that ignores the end of its input takes seconds, and would keep the others for so long
    await Promise.all(idle.map((channel) => this.#end(channel)));
  }

  /** Ends a channel for which no caller waits. One that cannot be ended keeps no other open. Never rejects. */
  #end(channel: SharedSession): Promise<void> {
    return channel.close().catch((error) => this.#deps.log.warn({ err: error }, 'could not end a channel'));
  }
}
