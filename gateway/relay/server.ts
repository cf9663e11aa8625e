import { asGatewayError, GatewayError } from '../errors.js';
import type { FileRecord } from '../files/file.js';
import type { LazyFile } from '../files/lazy-files.js';
import type { Authorization } from '../files/upload.js';
import { isObject } from '../json/value.js';
import { argumentTooLarge } from '../mcp/body-meter.js';
import { clientFacts } from '../mcp/client-facts.js';
import { namesStateless } from '../mcp/era.js';
import { checkStatelessHeaders } from '../mcp/headers.js';
import type { Inquire } from '../mcp/inquire.js';
import { invalid } from '../mcp/read-message.js';
import { type ClientMessages, readMessages } from '../mcp/request.js';
import { idIn } from '../mcp/request-id.js';
import type { TooLongArgument } from '../mcp/shortened-body.js';
import type { Decision } from '../policy/access.js';
import type { Limits } from '../policy/limits.js';
import type { Identity } from '../ports/identity.js';
import type { ExchangeUpstream, SharedUpstream, Upstream, UpstreamAnswer } from '../ports/upstream.js';
import { Asking } from './asking/asking.js';
import type { Course } from './asking/course.js';
import { loginAnswer, withoutLogin } from './asking/rounds/log-in.js';
import { recordRequests } from './audit-exchange.js';
import type { Asked, Caller, Sender } from './caller.js';
import { HttpServer, type Probe } from './channels/http-server.js';
import { checkOpening } from './channels/open-session.js';
import { SharedServer } from './channels/shared-server.js';
import { answerLocally, errorOf, type LocalAnswer, onlyRequest } from './client/local-answer.js';
import type { RelayDeps } from './deps.js';
import { type Exchange, noteError } from './exchange.js';
import { callLocally, type LocalTool } from './local/local-tools.js';
import { answerWithoutResources } from './local/no-resources.js';
import { answerRefusedFile } from './local/offers.js';
import { readLazy } from './local/read-link.js';
import { OpenPosts } from './open-posts.js';
import { calledName, type PendingRequest } from './pending-request.js';
import type { Session } from './session.js';
import { ResourceStreams, type StreamHost } from './streams/resource-streams.js';
import { firstEventOf } from './upstream/first-event.js';
import { ServerAbilities } from './upstream/server-abilities.js';
import { viewOf } from './upstream/view.js';

/** A server that answers `initialize` with one of these may know only HTTP+SSE (2024-11-05). */
const LEGACY_STATUSES = new Set([400, 404, 405]);

/** One configured server over any transport: the MCP endpoint passes its exchanges to it. */
export class Server {
  readonly name: string;
  readonly posts = new OpenPosts();
  readonly #deps: RelayDeps;
  readonly #upstreams: readonly Upstream[];
  readonly #http: HttpServer | undefined;
  readonly #shared: SharedServer | undefined;
  readonly #streams: ResourceStreams;
  readonly #asking: Asking;
  readonly #abilities: ServerAbilities;
  readonly #course: Course = {
    forward: (one) => this.#forward(one),
    refuse: (error, one, offered) => this.#refuse(error, one, offered),
  };
  /** Set once a probed server has shown its transport. */
  #spoken: 'exchange' | 'shared' | undefined;

  /** @param upstreams one; for a probed server, Streamable HTTP and legacy HTTP+SSE */
  constructor(deps: RelayDeps, upstreams: readonly Upstream[]) {
    this.name = deps.server;
    this.#deps = deps;
    this.#upstreams = upstreams;
    const exchange = upstreams.find((upstream): upstream is ExchangeUpstream => upstream.channel === 'exchange');
    const shared = upstreams.find((upstream): upstream is SharedUpstream => upstream.channel === 'shared');
    this.#http = exchange && new HttpServer(deps, exchange);
    this.#shared = shared && new SharedServer(deps, shared);
    this.#asking = new Asking(deps.asking);
    this.#abilities = new ServerAbilities(deps.dialects);
    const host: StreamHost = {
      forward: (asked, probe) => this.#forward(asked, probe),
      opener: (asked) => {
        if (this.#channelOf(asked) === 'shared') return undefined;
        const http = this.#httpServer();
        return (request) => http.open(asked, request);
      },
    };
    this.#streams = new ResourceStreams(deps, host, this.#abilities);
    if (!exchange || !shared) this.#spoken = exchange ? 'exchange' : 'shared';
  }

  /** Called once it takes exchanges. */
  serve(): void {
    const { sessions, server } = this.#deps;
    sessions.watch(server, (session) => {
      void (session.channel === 'shared' ? this.#shared : this.#http)?.forget(session);
    });
  }

  /** Whether a caller may use this server. */
  reach(identity: Identity): Decision {
    return this.#deps.offered.reach(identity);
  }

  get limits(): Limits {
    return this.#deps.limits;
  }

  /** Channels open to the upstream now. */
  get channels(): number {
    return this.#shared?.size ?? 0;
  }

  async post(exchange: Exchange): Promise<void> {
    const parsed = withoutLogin(await this.#parse(exchange), this.#deps.limits);
    const messages = parsed instanceof Promise ? await parsed : parsed;
    noteFacts(exchange, messages);
    checkStatelessHeaders(exchange.headers, messages);
    if (messages.initialize) checkOpening(messages.initialize, this.#deps.limits.capabilities);
    const session = messages.initialize ? undefined : await this.#session(exchange);
    if (session) exchange.facts.version = session.version;
    const caller = this.#caller({ exchange, messages, session });
    exchange.facts.client = caller.client.name;
    this.#checkScopes(exchange, messages);
    if (exchange.tooLong) this.#noteTooLong(exchange.tooLong, messages);
    const { offered, audit } = this.#deps;
    const known = offered.isPlain ? { ...caller, messages } : await this.#withOwnNames({ ...caller, messages });
    if (!known) return;
    if (audit.isOn) await recordRequests(audit, exchange, { server: this.name, requests: known.messages.requests });
    if (await this.#asking.takes(known)) return;
    const asked = await this.#streams.answer(known);
    if (!asked || (await this.#answersItself(asked))) return;
    await this.#asking.run(asked, this.#course);
  }

  /**
   * The POST with the server's own names of tools. A tool that the caller may not use is refused as MCP refuses an
   * unknown one, before the server is sent anything.
   * @returns undefined when that has answered it
   */
  async #withOwnNames(asked: Asked): Promise<Asked | undefined> {
    const { exchange, messages } = asked;
    const requests: PendingRequest[] = [];
    for (const request of messages.requests) {
      const named = this.#withOwnName(request, exchange);
      if (!named && !(await this.#ownTool(request, asked))) {
        const error = new GatewayError('tool_unknown', { tool: request.subject ?? '' });
        exchange.facts.rule = this.#deps.offered.ruleFor(request.subject ?? '', exchange.identity);
        if (!onlyRequest(messages)) throw error;
        noteError(exchange.facts, error);
        answerLocally(exchange, messages, errorOf(error));
        return undefined;
      }
      requests.push(named ?? request);
    }
    return { ...asked, messages: { ...messages, requests } };
  }

  #withOwnName(request: PendingRequest, { identity }: Exchange): PendingRequest | undefined {
    const { method, subject, params } = request;
    if (method !== 'tools/call' || subject === undefined) return request;
    const name = this.#deps.offered.called(subject, identity);
    if (name === undefined) return undefined;
    if (name === subject) return request;
    return { ...request, subject: name, params: { ...params, name }, calledAs: subject };
  }

  /** A call whose file is refused, or lacking: its client is told what to do. @throws whatever else was thrown */
  async #refuse(error: unknown, asked: Asked, offered: Authorization | undefined): Promise<void> {
    const { exchange, messages } = asked;
    const login = error instanceof GatewayError ? loginAnswer(error, asked) : undefined;
    if (login) return answerLocally(exchange, messages, login);
    if (!(error instanceof GatewayError) || !isAboutFile(error) || !onlyRequest(messages)) throw error;
    const { uploads, ...deps } = this.#deps;
    const offering = offered ? { authorize: async () => offered } : uploads;
    answerLocally(exchange, messages, await answerRefusedFile(error, asked, { ...deps, uploads: offering }));
  }

  /** The server does not see a byte of a call for which its caller must get further rights first. */
  #checkScopes({ identity }: Exchange, { requests }: ClientMessages): void {
    const { checkTool } = this.#deps;
    if (!checkTool) return;
    for (const { method, subject } of requests)
      if (method === 'tools/call' && subject !== undefined) checkTool(identity, subject);
  }

  #caller(sender: Sender): Caller {
    const { exchange, messages, session } = sender;
    const client = clientFacts(exchange, messages, session, this.#deps.hosts);
    const server = this.#channelOf(sender) === 'shared' ? this.#sharedServer() : this.#httpServer();
    return { ...sender, client, inquire: server.inquire(sender) };
  }

  /** Undefined as long as a server that is probed has not shown it. */
  #channelOf({ session }: Sender): Session['channel'] | undefined {
    return session?.channel ?? this.#spoken;
  }

  /** Adds what to do instead, if the call's tool takes a file there. @throws GatewayError `argument_too_large` */
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
      // the id in malformed JSON cannot be trusted
      const id = error instanceof GatewayError && error.code === 'too_deep' ? idIn([exchange.body]) : undefined;
      if (id !== undefined) exchange.facts.requests = [{ id, base: [] }];
      throw error;
    }
  }

  /** Asks the server in the caller's own session; undefined before there is one. */
  #inquire(asked: Asked): Inquire | undefined {
    const { messages, session, inquire } = asked;
    const isOpen = session !== undefined || !messages.era.hasSessions;
    return isOpen || this.#channelOf(asked) === 'shared' ? inquire : undefined;
  }

  /** @param probe sees an answer on its own channel first; returns true when it has taken over the exchange */
  #forward(asked: Asked, probe?: Probe): Promise<void> {
    const channel = this.#channelOf(asked);
    if (channel === 'shared') return this.#sharedServer().post(asked);
    const transport = channel === undefined && asked.messages.initialize ? this.#probe(asked) : undefined;
    return this.#httpServer().post(asked, transport ?? probe);
  }

  /** Answers methods of the dialects and calls of Wharf's own tools, without the server. */
  async #answersItself(asked: Asked): Promise<boolean> {
    const { exchange, messages } = asked;
    const request = onlyRequest(messages);
    if (!request) {
      for (const candidate of messages.requests) {
        if (!(await this.#ownWork(candidate, asked))) continue;
        const reason = `${candidate.method} of Wharf's own cannot be in a batch`;
        throw new GatewayError('request_invalid', { reason });
      }
      return false;
    }
    const work = (await this.#ownWork(request, asked)) ?? (await this.#absence(request, asked));
    if (!work) return false;
    let answer: LocalAnswer;
    try {
      answer = await work();
    } catch (error) {
      answer = errorOf(error);
      noteError(exchange.facts, asGatewayError(error));
      this.#deps.log.warn({ code: exchange.facts.error, method: request.method, err: error }, 'a request was refused');
    }
    answerLocally(exchange, messages, answer);
    return true;
  }

  /** How a request is answered without the server, if it is. @throws GatewayError */
  async #ownWork(request: PendingRequest, asked: Asked): Promise<(() => Promise<LocalAnswer>) | undefined> {
    const { methods, resources, limits } = this.#deps;
    const { client, exchange } = asked;
    const { principal, signal } = exchange;
    const { method, params } = request;
    if (methods.has(method)) {
      const inquire = this.#inquire(asked);
      return () => methods.answer(method, params, { client, principal, inquire, signal });
    }
    const own = await resources.answerTo(request, { principal, client, signal });
    if (own) return own;
    const tool = await this.#ownTool(request, asked);
    if (!tool) return undefined;
    if (request.tooLong) throw tooLongError(request.tooLong, limits);
    if (request.heavyArguments)
      throw invalid(`more than limits.values = ${limits.values} values in the arguments of ${tool.name}`);
    const args = isObject(params.arguments) ? params.arguments : {};
    return async () => ({ result: await callLocally(tool, args, exchange.identity, client) });
  }

  /** How a request for resources is answered if the server has none. */
  async #absence(request: PendingRequest, asked: Asked): Promise<(() => Promise<LocalAnswer>) | undefined> {
    const answer = await answerWithoutResources(request, asked, this.#abilities);
    return answer && (async () => answer);
  }

  /** The called tool of Wharf's own. All names of the server's tools must be known, because they take precedence. */
  async #ownTool(request: PendingRequest, asked: Asked): Promise<LocalTool | undefined> {
    const { tools, catalog, offered } = this.#deps;
    const name = calledName(request);
    if (request.method !== 'tools/call' || !tools.mayHave(name)) return undefined;
    const view = viewOf(asked.client.protocolVersion, asked.exchange.principal);
    const inquire = this.#inquire(asked);
    if (inquire) await catalog.load(view, inquire);
    return tools.named(name, catalog.beside(view, offered.shownTo(asked.exchange.identity)));
  }

  async get(exchange: Exchange): Promise<void> {
    const caller = this.#caller({ exchange, session: await this.#session(exchange) });
    const isShared = this.#channelOf(caller) === 'shared';
    const stream = (one: Caller) => (isShared ? this.#sharedServer() : this.#httpServer()).get(one);
    return this.#asking.listen(caller, stream, this.#course);
  }

  async remove(exchange: Exchange): Promise<void> {
    // without sessions there is nothing to end
    if (namesStateless(exchange.headers['mcp-protocol-version'])) {
      throw new GatewayError('method_not_allowed', { method: 'DELETE', allow: 'POST' });
    }
    const session = await this.#session(exchange);
    if (!session) throw new GatewayError('session_required');
    const caller = this.#caller({ exchange, session });
    if (session.channel === 'shared') return this.#sharedServer().remove(caller, session);
    return this.#httpServer().remove(caller, session);
  }

  /** Reads a resource that a result of this server has linked to. @throws GatewayError */
  readLazy(lazy: LazyFile, signal: AbortSignal): Promise<FileRecord> {
    return readLazy(lazy, this, this.#deps, signal);
  }

  /** Resolves when the server can be reached. @throws the errors of all its transports, together */
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
  #probe(asked: Asked): Probe {
    return async (answer) => {
      // some HTTP+SSE servers answer a POST like a GET: with a stream that begins by naming their endpoint
      const namesEndpoint = await this.#namesEndpoint(answer);
      if (!namesEndpoint && (!LEGACY_STATUSES.has(answer.status) || answer.kind === 'json')) {
        if (answer.status < 400) this.#spoken = 'exchange';
        return false;
      }
      if (namesEndpoint) answer.body.destroy();
      try {
        await this.#sharedServer().post(asked);
      } catch (error) {
        if (asked.exchange.reply.begun || namesEndpoint) throw error;
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
