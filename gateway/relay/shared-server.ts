import { GatewayError } from '../errors.js';
import type { SharedUpstream } from '../ports/upstream.js';
import type { HeldMessage } from '../wire/json/reader.js';
import type { Inquire } from './catalog.js';
import { nameOf } from './client-facts.js';
import type { Exchange, RelayDeps } from './exchange.js';
import { resultOf } from './http-server.js';
import { checkStatelessRequest } from './mcp-headers.js';
import { type ClientMessages, DEFAULT_VERSION, isObject } from './request.js';
import { spokenBy } from './server-dialects.js';
import type { Session } from './session.js';
import { SharedSession } from './shared-session.js';

/** How often idle channels are looked for. */
const IDLE_CHECK_MS = 30_000;

/**
 * One server behind a channel that all messages of a session share. A legacy session has a channel of its own; the
 * stateless clients of one principal share another, on which their ids are renamed.
 */
export class SharedServer {
  readonly #deps: RelayDeps;
  readonly #upstream: SharedUpstream;
  readonly #sessions = new Map<string, SharedSession>();
  readonly #stateless = new Map<string, Promise<SharedSession>>();
  readonly #idleCheck: NodeJS.Timeout;

  constructor(deps: RelayDeps, upstream: SharedUpstream) {
    this.#deps = deps;
    this.#upstream = upstream;
    this.#idleCheck = setInterval(() => void this.#closeIdle(), Math.min(IDLE_CHECK_MS, deps.timeouts.session));
    this.#idleCheck.unref();
  }

  /** Channels open now. */
  get size(): number {
    return this.#sessions.size + this.#stateless.size;
  }

  async post(exchange: Exchange, messages: ClientMessages, session: Session | undefined): Promise<void> {
    if (messages.statelessVersion !== undefined) {
      checkStatelessRequest(messages);
      const channel = await this.#statelessChannel(exchange);
      return channel.post(exchange, messages);
    }
    if (messages.initialize) return this.#initialize(exchange, messages);
    if (!session) throw new GatewayError('session_required');
    return this.#channelOf(session).post(exchange, messages);
  }

  /** Asks the server on the client's own channel. */
  inquire(exchange: Exchange, messages: ClientMessages, session: Session | undefined): Inquire {
    return async (method, params) => {
      const isStateless = messages.statelessVersion !== undefined;
      if (!isStateless && !session) return undefined;
      const channel = isStateless ? await this.#statelessChannel(exchange) : this.#channelOf(session as Session);
      return channel.inquire(method, params, messages);
    };
  }

  async get(exchange: Exchange, session: Session | undefined): Promise<void> {
    if (!session) throw new GatewayError('method_not_allowed', { method: 'GET without a session', allow: 'POST' });
    return this.#channelOf(session).openGet(exchange);
  }

  async remove(exchange: Exchange, session: Session): Promise<void> {
    const channel = this.#channelOf(session);
    await this.#deps.sessions.end(session.id);
    await channel.close();
    exchange.response.writeHead(204);
    exchange.response.end();
  }

  async close(): Promise<void> {
    clearInterval(this.#idleCheck);
    const stateless = await Promise.allSettled(this.#stateless.values());
    const channels = stateless.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    await Promise.all([...channels, ...this.#sessions.values()].map((channel) => channel.close()));
  }

  /** A channel lives in one process: after a restart, or on another replica, the client must initialize again. */
  #channelOf(session: Session): SharedSession {
    const channel = this.#sessions.get(session.id);
    if (!channel) throw new GatewayError('session_unknown');
    return channel;
  }

  async #initialize(exchange: Exchange, messages: ClientMessages): Promise<void> {
    const connection = await this.#upstream.connect(exchange.signal);
    let id: string | undefined;
    const channel: SharedSession = new SharedSession({
      deps: this.#deps,
      connection,
      principal: exchange.principal,
      isShared: false,
      closed: () => {
        if (id === undefined) return;
        this.#sessions.delete(id);
        this.#deps.sessions.end(id).catch((error) => this.#deps.log.warn({ err: error }, 'could not end a session'));
      },
    });
    const opened = async (message: HeldMessage) => {
      const result = resultOf(message);
      if (!result) return undefined;
      const { capabilities, clientInfo } = messages.initialize?.params ?? {};
      const clientName = nameOf(clientInfo);
      const session = await this.#deps.sessions.open({
        principal: exchange.principal,
        server: this.#deps.server,
        channel: 'shared',
        version: typeof result.protocolVersion === 'string' ? result.protocolVersion : DEFAULT_VERSION,
        capabilities: isObject(capabilities) ? capabilities : {},
        ...(clientName === undefined ? {} : { clientName }),
        ...spokenBy(result, this.#deps.dialects),
      });
      id = session.id;
      channel.session = session;
      this.#sessions.set(id, channel);
      return id;
    };
    try {
      await channel.post(exchange, messages, opened);
    } finally {
      if (id === undefined) await channel.close();
    }
  }

  #statelessChannel(exchange: Exchange): Promise<SharedSession> {
    const { principal } = exchange;
    const open = this.#stateless.get(principal);
    if (open) return open;
    // not the exchange's own signal: the channel outlives the request that opened it
    const opening = this.#upstream.connect(new AbortController().signal).then(
      (connection) =>
        new SharedSession({
          deps: this.#deps,
          connection,
          principal,
          isShared: true,
          closed: () => this.#stateless.delete(principal),
        }),
    );
    this.#stateless.set(principal, opening);
    opening.catch(() => this.#stateless.delete(principal));
    return opening;
  }

  async #closeIdle(): Promise<void> {
    const latest = Date.now() - this.#deps.timeouts.session;
    const stateless = await Promise.allSettled(this.#stateless.values());
    const channels = stateless.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    for (const channel of [...channels, ...this.#sessions.values()]) {
      if ((channel.idleSince ?? Date.now()) < latest) await channel.close();
    }
  }
}
