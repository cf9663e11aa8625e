import { GatewayError } from '../../errors.js';
import type { Inquire } from '../../mcp/inquire.js';
import { mayBeOldTransport } from '../../mcp/old-transport.js';
import type { ExchangeUpstream, SharedUpstream, Upstream, UpstreamAnswer } from '../../ports/upstream.js';
import type { Asked, Caller, Sender } from '../caller.js';
import type { Session } from '../session.js';
import { firstEventOf } from '../upstream/first-event.js';
import { isMcpRefusal } from '../upstream/mcp-refusal.js';
import type { ChannelDeps } from './deps.js';
import { HttpServer, type TakesOver } from './http-server.js';
import { SharedServer } from './shared-server.js';

/** The ways to one server, and which of them it speaks. */
export class Transports {
  readonly #deps: ChannelDeps;
  readonly #upstreams: readonly Upstream[];
  readonly #http: HttpServer | undefined;
  readonly #shared: SharedServer | undefined;
  /** Set for a single call, whose limits are lower than those of its session. */
  #ofCall: ChannelDeps | undefined;
  /** `by` is set once a probed server has shown its transport. */
  readonly #spoken: { by?: Session['channel'] };

  /**
   * @param upstreams one; for a probed server, Streamable HTTP and legacy HTTP+SSE
   * @param kin the ways to the same server under other limits
   * @param channels default: channels for these limits
   */
  constructor(deps: ChannelDeps, upstreams: readonly Upstream[], kin?: Transports, channels?: SharedServer) {
    this.#deps = deps;
    this.#upstreams = upstreams;
    const exchange = upstreams.find((upstream): upstream is ExchangeUpstream => upstream.channel === 'exchange');
    const shared = upstreams.find((upstream): upstream is SharedUpstream => upstream.channel === 'shared');
    this.#http = exchange && new HttpServer(deps, exchange);
    this.#shared = channels ?? (shared && new SharedServer(deps, shared, kin ? kin.#shared : undefined));
    this.#spoken = kin ? kin.#spoken : {};
    if (!exchange || !shared) this.#spoken.by = exchange ? 'exchange' : 'shared';
  }

  /** For callers with other limits, who share its sessions and processes. */
  under(deps: ChannelDeps): Transports {
    return new Transports(deps, this.#upstreams, this);
  }

  /** For a call whose tool lowers the limits, on the channels that are open. */
  ofCall(deps: ChannelDeps): Transports {
    const ways = new Transports(deps, this.#upstreams, this, this.#shared);
    ways.#ofCall = deps;
    return ways;
  }

  /** Channels open to the upstream now. */
  get size(): number {
    return this.#shared?.size ?? 0;
  }

  /** Undefined as long as a server that is probed has not shown it. */
  channelOf({ session }: Pick<Sender, 'session'>): Session['channel'] | undefined {
    return session?.channel ?? this.#spoken.by;
  }

  /** Over Streamable HTTP, if it may speak that. */
  get overHttp(): HttpServer | undefined {
    return this.#http;
  }

  /** @throws GatewayError `session_unknown` where it does not speak Streamable HTTP */
  http(): HttpServer {
    if (!this.#http) throw new GatewayError('session_unknown');
    return this.#http;
  }

  /** Keeps a session, and its process, while requests of it are under way: others may need the place. */
  keep({ session }: Pick<Sender, 'session'>): (() => void) | undefined {
    if (!session) return undefined;
    const end = session.channel === 'shared' ? this.#shared?.keep(session) : undefined;
    const over = this.#deps.sessions.begin(session);
    return () => {
      over();
      end?.();
    };
  }

  inquire(sender: Sender): Inquire {
    return this.#by(sender).inquire(sender);
  }

  /** @param takesOver sees an answer on its own channel first */
  forward(asked: Asked, takesOver?: TakesOver): Promise<void> {
    const channel = this.channelOf(asked);
    if (channel === 'shared') return this.#sharedServer().post(asked, this.#ofCall);
    const transport = channel === undefined && asked.messages.initialize ? this.#byAnswer(asked) : undefined;
    return this.http().post(asked, transport ?? takesOver);
  }

  get(caller: Caller): Promise<void> {
    return this.#by(caller).get(caller);
  }

  remove(caller: Caller, session: Session): Promise<void> {
    return (session.channel === 'shared' ? this.#sharedServer() : this.http()).remove(caller, session);
  }

  /** A session was ended to make room for another. */
  forget(session: Session): void {
    void (session.channel === 'shared' ? this.#shared : this.#http)?.forget(session);
  }

  /** Resolves when the server can be reached. @throws the errors of all its transports, together */
  async check(): Promise<void> {
    await Promise.any(this.#upstreams.map((upstream) => upstream.check()));
  }

  /** True for a program that has not been started. */
  get isUntried(): boolean {
    return this.#upstreams.some((upstream) => upstream.channel === 'shared' && upstream.isUntried === true);
  }

  async close(): Promise<void> {
    await this.#shared?.close();
    await Promise.all(this.#upstreams.map((upstream) => upstream.close()));
  }

  #by(sender: Pick<Sender, 'session'>): HttpServer | SharedServer {
    return this.channelOf(sender) === 'shared' ? this.#sharedServer() : this.http();
  }

  #sharedServer(): SharedServer {
    if (!this.#shared) throw new GatewayError('session_unknown');
    return this.#shared;
  }

  /**
   * MCP 2025-03-26 §backwards compatibility: a client POSTs `initialize`; if that is refused it issues a GET and waits
   * for `endpoint`. A 2026-07-28 server refuses with a JSON-RPC error, which is never mistaken for that.
   */
  #byAnswer(asked: Asked): TakesOver {
    return async (answer) => {
      // some HTTP+SSE servers answer a POST like a GET: with a stream that begins by naming their endpoint
      const namesEndpoint = await this.#namesEndpoint(answer);
      if (!namesEndpoint && !(await this.#refusesLikeLegacy(answer))) {
        if (answer.status < 400) this.#spoken.by = 'exchange';
        return false;
      }
      if (namesEndpoint) answer.body.destroy();
      try {
        await this.#sharedServer().post(asked);
      } catch (error) {
        if (asked.exchange.reply.begun || namesEndpoint) throw error;
        this.#warnOfPath(answer.status, error);
        return false;
      }
      answer.body.destroy();
      this.#spoken.by = 'shared';
      return true;
    };
  }

  /** The client gets the server's own words, often only "Cannot POST /"; the operator knows the URL. */
  #warnOfPath(status: number, error: unknown): void {
    if (status !== 404 && status !== 405) return;
    this.#deps.log.warn({ status, err: error }, 'no MCP endpoint at the path of its URL, which is often /mcp or /sse');
  }

  async #refusesLikeLegacy(answer: UpstreamAnswer): Promise<boolean> {
    if (!mayBeOldTransport(answer.status)) return false;
    return answer.kind !== 'json' || !(await isMcpRefusal(answer, this.#deps.server, this.#deps.timeouts.upstream));
  }

  async #namesEndpoint({ status, kind, body }: UpstreamAnswer): Promise<boolean> {
    if (status !== 200 || kind !== 'sse') return false;
    return (await firstEventOf(body, this.#deps.server, this.#deps.timeouts.upstream)) === 'endpoint';
  }
}
