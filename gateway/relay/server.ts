import { asGatewayError, GatewayError } from '../errors.js';
import type { FileRecord } from '../files/file.js';
import type { LazyFile } from '../files/lazy-files.js';
import { isObject } from '../json/value.js';
import { argumentTooLarge } from '../mcp/body-meter.js';
import { clientFacts } from '../mcp/client-facts.js';
import { checkStatelessHeaders } from '../mcp/headers.js';
import type { Inquire } from '../mcp/inquire.js';
import { invalid } from '../mcp/read-message.js';
import { type ClientMessages, readMessages, STATELESS_SINCE } from '../mcp/request.js';
import { idIn } from '../mcp/request-id.js';
import type { TooLongArgument } from '../mcp/shortened-body.js';
import type { Limits } from '../policy/limits.js';
import type { ClientFacts } from '../ports/client.js';
import type { ExchangeUpstream, SharedUpstream, Upstream, UpstreamAnswer } from '../ports/upstream.js';
import { HttpServer } from './channels/http-server.js';
import { checkOpening } from './channels/open-session.js';
import { SharedServer } from './channels/shared-server.js';
import { answerLocally, errorOf, type LocalAnswer, onlyRequest } from './client/local-answer.js';
import type { RelayDeps } from './deps.js';
import { type Exchange, noteError } from './exchange.js';
import { callLocally, type LocalTool } from './local/local-tools.js';
import { fileAnswer } from './local/offers.js';
import { readLazy } from './local/read-link.js';
import type { PendingRequest } from './pending-request.js';
import type { Session } from './session.js';
import { ResourceStreams } from './streams/resource-streams.js';
import { firstEventOf } from './upstream/first-event.js';
import { viewOf } from './upstream/view.js';

/** An answer to `initialize` with one of these may come from a server that only knows HTTP+SSE (2024-11-05). */
const LEGACY_STATUSES = new Set([400, 404, 405]);

/** One configured server, whatever its transport: what the MCP endpoint hands its exchanges to. */
export class Server {
  readonly name: string;
  readonly #deps: RelayDeps;
  readonly #upstreams: readonly Upstream[];
  readonly #http: HttpServer | undefined;
  readonly #shared: SharedServer | undefined;
  readonly #streams: ResourceStreams;
  /** Set once a probed server has shown which transport it speaks. */
  #spoken: 'exchange' | 'shared' | undefined;

  /** @param upstreams one, or for a server that is probed: Streamable HTTP and legacy HTTP+SSE */
  constructor(deps: RelayDeps, upstreams: readonly Upstream[]) {
    this.name = deps.server;
    this.#deps = deps;
    this.#upstreams = upstreams;
    const exchange = upstreams.find((upstream): upstream is ExchangeUpstream => upstream.channel === 'exchange');
    const shared = upstreams.find((upstream): upstream is SharedUpstream => upstream.channel === 'shared');
    this.#http = exchange && new HttpServer(deps, exchange);
    this.#shared = shared && new SharedServer(deps, shared);
    this.#streams = new ResourceStreams(deps, {
      forward: (...parameters) => this.#forward(...parameters),
      own: (...parameters) =>
        (parameters[2]?.channel ?? this.#spoken) === 'shared' ? undefined : this.#httpServer().own(...parameters),
    });
    deps.sessions.watch(deps.server, (session) => {
      void (session.channel === 'shared' ? this.#shared : this.#http)?.forget(session);
    });
    if (!exchange || !shared) this.#spoken = exchange ? 'exchange' : 'shared';
  }

  get limits(): Limits {
    return this.#deps.limits;
  }

  /** Channels open to the upstream now. */
  get channels(): number {
    return this.#shared?.size ?? 0;
  }

  async post(exchange: Exchange): Promise<void> {
    const messages = await this.#parse(exchange);
    noteFacts(exchange, messages);
    checkStatelessHeaders(exchange.headers, messages);
    if (messages.initialize) checkOpening(messages.initialize, this.#deps.limits.capabilities);
    const session = messages.initialize ? undefined : await this.#session(exchange);
    if (session) exchange.facts.version = session.version;
    const client = clientFacts(exchange, messages, session, this.#deps.profiles);
    exchange.facts.client = client.name;
    if (exchange.tooLong) this.#noteTooLong(exchange.tooLong, messages);
    if (await this.#streams.answer({ exchange, messages, session, client })) return;
    if (await this.#answersItself(exchange, messages, session, client)) return;
    try {
      await this.#forward(exchange, messages, session);
    } catch (error) {
      const request = onlyRequest(messages);
      if (!(error instanceof GatewayError) || !isAboutFile(error) || !request) throw error;
      noteError(exchange.facts, error);
      const { reason, argument } = error.facts;
      const { limit, allowed, actual } = exchange.facts;
      const told = { principal: exchange.principal, reason, argument, limit, allowed, actual, err: error.cause };
      this.#deps.log.info(told, 'a file was refused');
      const { server, uploads, dialects } = this.#deps;
      const answer = await fileAnswer(error, client, { server, principal: exchange.principal, uploads, dialects });
      answerLocally(exchange, messages, answer);
    }
  }

  /** A call is told what to do instead where its tool takes a file there. @throws GatewayError `argument_too_large` */
  #noteTooLong(tooLong: TooLongArgument, messages: ClientMessages): void {
    const request = onlyRequest(messages);
    if (request?.method !== 'tools/call') throw tooLongError(tooLong, this.#deps.limits);
    request.tooLong = tooLong;
  }

  /** @throws GatewayError */
  async #parse(exchange: Exchange): Promise<ClientMessages> {
    try {
      return await readMessages(exchange.body, this.#deps.limits);
    } catch (error) {
      // what is no JSON has no id that could be believed
      const id = error instanceof GatewayError && error.code === 'too_deep' ? idIn([exchange.body]) : undefined;
      if (id !== undefined) exchange.facts.requests = [{ id, base: [] }];
      throw error;
    }
  }

  /** How the server is asked on the caller's own session; nothing before one is open. */
  #inquire(exchange: Exchange, messages: ClientMessages, session: Session | undefined): Inquire | undefined {
    const channel = session?.channel ?? this.#spoken;
    if (channel === 'shared') return this.#sharedServer().inquire(exchange, messages, session);
    const isOpen = session !== undefined || messages.statelessVersion !== undefined;
    return isOpen ? this.#httpServer().own(exchange, messages, session).inquire : undefined;
  }

  /** @param probe sees an answer that has a channel of its own first; true when it took the exchange over */
  #forward(
    exchange: Exchange,
    messages: ClientMessages,
    session: Session | undefined,
    probe?: (answer: UpstreamAnswer) => Promise<boolean>,
  ): Promise<void> {
    const channel = session?.channel ?? this.#spoken;
    if (channel === 'shared') return this.#sharedServer().post(exchange, messages, session);
    const transport = channel === undefined && messages.initialize ? this.#probe(exchange, messages) : undefined;
    return this.#httpServer().post(exchange, messages, session, transport ?? probe);
  }

  /** Methods of the dialects and Wharf's own tools: the server hears nothing of them. */
  async #answersItself(
    exchange: Exchange,
    messages: ClientMessages,
    session: Session | undefined,
    client: ClientFacts,
  ): Promise<boolean> {
    const { methods, resources, limits } = this.#deps;
    const { principal, signal } = exchange;
    const work = async (request: PendingRequest): Promise<(() => Promise<LocalAnswer>) | undefined> => {
      const { method, params } = request;
      if (methods.has(method)) {
        const inquire = this.#inquire(exchange, messages, session);
        return () => methods.answer(method, params, { client, principal, inquire, signal });
      }
      const { uri } = params;
      const handle = method === 'resources/read' && typeof uri === 'string' && (await resources.handleOf(uri));
      if (handle) return () => resources.read(String(uri), handle, { principal, client, signal });
      const tool = await this.#ownTool(request, exchange, messages, session, client);
      if (!tool) return undefined;
      if (request.tooLong) throw tooLongError(request.tooLong, limits);
      if (request.heavyArguments)
        throw invalid(`more than limits.values = ${limits.values} values in the arguments of ${tool.name}`);
      const args = isObject(params.arguments) ? params.arguments : {};
      return async () => ({ result: await callLocally(tool, args, principal, client) });
    };
    const request = onlyRequest(messages);
    if (!request) {
      for (const candidate of messages.requests) {
        if (!(await work(candidate))) continue;
        const reason = `${candidate.method} of Wharf's own cannot be in a batch`;
        throw new GatewayError('request_invalid', { reason });
      }
      return false;
    }
    const run = await work(request);
    if (!run) return false;
    let answer: LocalAnswer;
    try {
      answer = await run();
    } catch (error) {
      answer = errorOf(error);
      noteError(exchange.facts, asGatewayError(error));
      this.#deps.log.warn({ code: exchange.facts.error, method: request.method, err: error }, 'a request was refused');
    }
    answerLocally(exchange, messages, answer);
    return true;
  }

  /** A tool of Wharf's own that is called. All names of the server's have to be known: its tools come first. */
  async #ownTool(
    { method, subject }: PendingRequest,
    exchange: Exchange,
    messages: ClientMessages,
    session: Session | undefined,
    client: ClientFacts,
  ): Promise<LocalTool | undefined> {
    const { tools, catalog } = this.#deps;
    if (method !== 'tools/call' || !tools.mayHave(subject)) return undefined;
    const view = viewOf(client.protocolVersion, exchange.principal);
    const inquire = this.#inquire(exchange, messages, session);
    if (inquire) await catalog.load(view, inquire);
    return tools.named(subject, catalog.beside(view));
  }

  async get(exchange: Exchange): Promise<void> {
    const session = await this.#session(exchange);
    if ((session?.channel ?? this.#spoken) === 'shared') return this.#sharedServer().get(exchange, session);
    return this.#httpServer().get(exchange, session);
  }

  async remove(exchange: Exchange): Promise<void> {
    const version = exchange.headers['mcp-protocol-version'];
    // 2026-07-28: there are no sessions, and so nothing to end
    if (typeof version === 'string' && version >= STATELESS_SINCE) {
      throw new GatewayError('method_not_allowed', { method: 'DELETE', allow: 'POST' });
    }
    const session = await this.#session(exchange);
    if (!session) throw new GatewayError('session_required');
    if (session.channel === 'shared') return this.#sharedServer().remove(exchange, session);
    return this.#httpServer().remove(exchange, session);
  }

  /** Reads a resource that a result of this server's has linked to. @throws GatewayError */
  readLazy(lazy: LazyFile, signal: AbortSignal): Promise<FileRecord> {
    return readLazy(lazy, this, this.#deps, signal);
  }

  /** Resolves when the server can be reached. @throws what each of its transports says, together */
  async check(): Promise<void> {
    await Promise.any(this.#upstreams.map((upstream) => upstream.check()));
  }

  async close(): Promise<void> {
    await this.#shared?.close();
    await Promise.all(this.#upstreams.map((upstream) => upstream.close()));
  }

  async #session(exchange: Exchange): Promise<Session | undefined> {
    const id = exchange.headers['mcp-session-id'];
    if (typeof id !== 'string') return undefined;
    const session = await this.#deps.sessions.find(id, exchange.principal, this.name);
    if (!session) throw new GatewayError('session_unknown');
    exchange.facts.session = session.id;
    exchange.facts.client = session.clientName;
    return session;
  }

  /**
   * MCP 2025-03-26 §backwards compatibility: a client POSTs `initialize`; on 400, 404 or 405 it issues a GET and waits
   * for `endpoint`. A 2026-07-28 server refuses with a JSON-RPC error, and its JSON is never mistaken for that.
   */
  #probe(exchange: Exchange, messages: ClientMessages): (answer: UpstreamAnswer) => Promise<boolean> {
    return async (answer) => {
      // some servers of HTTP+SSE answer a POST like a GET: with a stream that begins by naming their endpoint
      const namesEndpoint = await this.#namesEndpoint(answer);
      if (!namesEndpoint && (!LEGACY_STATUSES.has(answer.status) || answer.kind === 'json')) {
        if (answer.status < 400) this.#spoken = 'exchange';
        return false;
      }
      if (namesEndpoint) answer.body.destroy();
      try {
        await this.#sharedServer().post(exchange, messages, undefined);
      } catch (error) {
        if (exchange.response.headersSent || namesEndpoint) throw error;
        return false;
      }
      answer.body.destroy();
      this.#spoken = 'shared';
      return true;
    };
  }

  async #namesEndpoint({ status, kind, body }: UpstreamAnswer): Promise<boolean> {
    if (status !== 200 || kind !== 'sse') return false;
    return (await firstEventOf(body, this.name, this.#deps.timeouts.upstream)) === 'endpoint';
  }

  #httpServer(): HttpServer {
    if (!this.#http) throw new GatewayError('session_unknown');
    return this.#http;
  }

  #sharedServer(): SharedServer {
    if (!this.#shared) throw new GatewayError('session_unknown');
    return this.#shared;
  }
}

function tooLongError({ path, size }: TooLongArgument, { inlineArgument }: Limits): GatewayError {
  return argumentTooLarge(path, inlineArgument, size);
}

function isAboutFile({ code }: GatewayError): boolean {
  return code === 'file_refused' || code === 'file_missing';
}

function noteFacts(exchange: Exchange, messages: ClientMessages): void {
  exchange.facts.requests = messages.requests;
  exchange.facts.method = messages.firstMethod;
  exchange.facts.name = messages.requests[0]?.subject;
  exchange.facts.version = messages.statelessVersion;
}
