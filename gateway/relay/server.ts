import { GatewayError } from '../errors.js';
import type { FileRecord } from '../files/file.js';
import type { LazyFile } from '../files/handles/lazy-files.js';
import type { Authorization } from '../files/uploads/upload-links.js';
import { clientFacts } from '../mcp/client-facts.js';
import { namesStateless } from '../mcp/era.js';
import { checkStatelessHeaders } from '../mcp/headers.js';
import type { ClientMessages } from '../mcp/request.js';
import type { Decision } from '../policy/access.js';
import type { Limits } from '../policy/limits.js';
import type { ExchangeLimits } from '../policy/message-limits.js';
import type { Identity } from '../ports/identity.js';
import type { ToolFacts, ToolSlot } from '../tools/tool.js';
import { Asking, mayTellOfQuestions } from './asking/asking.js';
import type { Course } from './asking/course.js';
import { loginAnswer, withoutLogin } from './asking/rounds/log-in.js';
import { recordRequests } from './audit-exchange.js';
import type { ByLimits } from './by-limits.js';
import type { Asked, Caller, Sender } from './caller.js';
import type { TakesOver } from './channels/http-server.js';
import { checkOpening } from './channels/open-session.js';
import type { Transports } from './channels/transports.js';
import { checkScopes } from './check-scopes.js';
import { answerLocally, errorOf, onlyRequest } from './client/local-answer.js';
import type { RelayDeps } from './deps.js';
import { type Exchange, noteMessages } from './exchange.js';
import { tellError } from './exchange-log.js';
import { calledTools, countedCalls, measureAgain, noteTooLong, withinLimits } from './limited-calls.js';
import { judgedForward, letServerJudge, letServerJudgeReader } from './local/accepted.js';
import { answerRefusedFile, isAboutFile } from './local/offers.js';
import { readLazy } from './local/read-link.js';
import { OpenPosts } from './open-posts.js';
import { OwnAnswers } from './own-answers.js';
import { type PendingRequest, underOwnName } from './pending-request.js';
import { readPost } from './read-post.js';
import type { Session } from './session.js';
import { ResourceStreams, type StreamHost } from './streams/resource-streams.js';
import { maxSizeOf } from './tools/max-size.js';
import { underLimits, withSource } from './under-limits.js';
import { ServerAbilities } from './upstream/server-abilities.js';
import { viewOf } from './upstream/view.js';

/** A tool as the catalog knows it. */
export interface KnownTool extends Pick<ToolFacts, 'paramHeaders'> {
  /** Its file slots, each with the largest file in it, bytes. */
  slots: { slot: ToolSlot; most: number }[];
}

/** One configured server over any transport: the MCP endpoint passes its exchanges to it. */
export class Server {
  readonly name: string;
  readonly posts = new OpenPosts();
  readonly gets = new OpenPosts();
  readonly #deps: RelayDeps;
  readonly #transports: Transports;
  readonly #byLimits: ByLimits<Server> | undefined;
  readonly #streams: ResourceStreams;
  readonly #own: OwnAnswers;
  readonly #asking: Asking;
  readonly #course: Course;

  /** @param byLimits the same server for callers with other limits */
  constructor(deps: RelayDeps, transports: Transports, byLimits?: ByLimits<Server>) {
    this.name = deps.server;
    this.#deps = deps;
    this.#transports = transports;
    this.#byLimits = byLimits;
    this.#course = this.#courseBy(transports, deps.limits);
    this.#asking = new Asking(deps.asking);
    const abilities = new ServerAbilities(deps.dialects);
    const host: StreamHost = {
      forward: (asked, takesOver) => this.#forward(asked, takesOver),
      judge: (asked) => letServerJudgeReader(asked, deps, transports.overHttp),
      opener: (asked) => {
        if (transports.channelOf(asked) === 'shared') return undefined;
        const http = transports.http();
        return (request) => http.open(asked, request);
      },
    };
    this.#streams = new ResourceStreams(deps, host, abilities);
    this.#own = new OwnAnswers(deps, { transports, streams: this.#streams, abilities });
  }

  /** Called once it takes exchanges. */
  serve(): void {
    const { sessions, server } = this.#deps;
    sessions.watch(server, (session) => this.#transports.forget(session));
  }

  /** Whether a caller may use this server. */
  reach(identity: Identity): Decision {
    return this.#deps.offered.reach(identity);
  }

  /** This server, as a caller with limits of its own meets it. */
  under(identity: Identity): Server {
    return this.#byLimits?.isOn ? this.#byLimits.for(identity, undefined, this) : this;
  }

  /** What is known about a tool that a caller has been shown, by the name that it knows. */
  toolFor(identity: Identity, protocolVersion: string, name: string): KnownTool | undefined {
    const { catalog, offered, limits, toolLimits, accepts } = this.#deps;
    const own = offered.called(name, identity);
    const facts = own === undefined ? undefined : catalog.known(viewOf(protocolVersion, identity.principal), own);
    if (!facts) return undefined;
    const survivable = { limits: toolLimits.lower(limits, [own]), accepts, owner: { server: this.name } };
    const slots = facts.slots.map((slot) => ({ slot, most: maxSizeOf(slot, survivable).bytes }));
    return { slots, paramHeaders: facts.paramHeaders };
  }

  get limits(): Limits {
    return this.#deps.limits;
  }

  /** Channels open to the upstream now. */
  get channels(): number {
    return this.#transports.size;
  }

  async post(exchange: Exchange): Promise<void> {
    // each `await` costs a turn of the microtasks and an object, so a short message waits only for its server
    const read = readPost(exchange, this.name, this.#deps.limits);
    const parsed = withoutLogin(read instanceof Promise ? await read : read, this.#deps.limits);
    const messages = parsed instanceof Promise ? await parsed : parsed;
    noteMessages(exchange.facts, messages);
    const { callers, offered } = this.#deps;
    if (!offered.isPlain) exchange.facts.ownName = (given) => offered.ownName(given);
    const answer = () => withinLimits(callers, exchange, messages, () => this.#answer(exchange, messages));
    await (this.#deps.watch?.asked?.(exchange, messages, answer) ?? answer());
  }

  async #answer(exchange: Exchange, messages: ClientMessages): Promise<void> {
    checkStatelessHeaders(exchange.headers, messages);
    if (messages.initialize) checkOpening(messages.initialize, this.#deps.limits.capabilities);
    const found = messages.initialize || !messages.era.hasSessions ? undefined : this.#session(exchange);
    const session = found instanceof Promise ? await found : found;
    if (session) exchange.facts.version = session.version;
    const caller = this.#caller({ exchange, messages, session });
    exchange.facts.client = caller.client.name;
    const server = this.#forHost(caller);
    await server.#take(server === this ? caller : server.#caller({ exchange, messages, session }), messages);
  }

  /** This server, as the caller meets it whose host has limits of its own. */
  #forHost({ exchange: { identity }, client: { limits } }: Caller): Server {
    return limits && this.#byLimits ? this.#byLimits.for(identity, limits, this) : this;
  }

  #take(caller: Caller, messages: ClientMessages): Promise<void> {
    const { exchange } = caller;
    checkScopes(this.#deps, exchange, messages);
    if (exchange.tooLong) noteTooLong(exchange.tooLong, messages, this.#deps.limits);
    if (this.#deps.offered.isPlain) return this.#takeNamed({ ...caller, messages });
    return this.#withOwnNames({ ...caller, messages }).then((named) => named && this.#takeNamed(named));
  }

  #takeNamed(asked: Asked): Promise<void> {
    return this.#deps.toolLimits.isOn ? this.#takeCalls(asked) : this.#proceed(asked, this.#course);
  }

  /** A POST under the limits of the tools that it calls. */
  async #takeCalls(asked: Asked): Promise<void> {
    const { exchange, messages } = asked;
    const { callers, toolLimits, limits: before, incoming } = this.#deps;
    const limits = toolLimits.lower(before, calledTools(messages));
    const calls = countedCalls(messages.requests, toolLimits);
    const end = calls.length > 0 ? await callers.beginCalls(exchange.identity, this.name, calls) : undefined;
    try {
      if (limits === before) return await this.#proceed(asked, this.#course);
      const tooLong = await measureAgain(messages.bytes, { principal: exchange.principal, server: this.name }, limits);
      if (tooLong) noteTooLong(tooLong, messages, limits);
      const deps = { ...underLimits(this.#deps, limits), incoming: { ...incoming, accept: limits.accept } };
      await this.#proceed(asked, this.#courseBy(this.#transports.ofCall(deps), limits));
    } catch (error) {
      throw withSource(error, limits);
    } finally {
      end?.();
    }
  }

  #courseBy(transports: Transports, limits: ExchangeLimits): Course {
    const forward = (one: Asked) => this.#forward(one, undefined, transports);
    return {
      forward: judgedForward(forward, this.#deps, () => transports.overHttp),
      refuse: (error, one, offered) => this.#refuse(withSource(error, limits), one, offered),
      inquire: (sender) => transports.inquire(sender),
    };
  }

  async #proceed(known: Asked, course: Course): Promise<void> {
    const { exchange } = known;
    const { audit } = this.#deps;
    if (audit.isOn) await recordRequests(audit, exchange, { server: this.name, requests: known.messages.requests });
    if (mayTellOfQuestions(known.messages) && (await this.#asking.takes(known, (asked) => this.#judge(known, asked))))
      return;
    const { isBatch, era } = known.messages;
    // MCP has no batches where it has no sessions
    if (isBatch && era.hasSessions && this.#own.mayAnswer(known))
      return this.#own.answersBatch(known, (rest) => this.#go(rest, course));
    return this.#go(known, course);
  }

  /** Without a token, a caller is the one that was asked, or a stranger who has its session. @throws GatewayError */
  #judge(known: Asked, asked: string): Promise<void> {
    const judge = known.exchange.principal === asked ? letServerJudgeReader : letServerJudge;
    return judge(known, this.#deps, this.#transports.overHttp);
  }

  /** A POST in which nothing but what stands alone is Wharf's own. */
  async #go(known: Asked, course: Course): Promise<void> {
    const streamed = this.#streams.answer(known);
    const asked = streamed instanceof Promise ? await streamed : streamed;
    if (!asked || (this.#own.mayAnswer(asked) && (await this.#own.answers(asked)))) return;
    const end = this.#transports.keep(asked);
    try {
      await this.#asking.run(asked, course);
    } finally {
      end?.();
    }
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
      if (!named && !(await this.#own.tool(request, asked))) {
        const error = new GatewayError('tool_unknown', { tool: request.subject ?? '' });
        exchange.facts.rule = this.#deps.offered.ruleFor(request.subject ?? '', exchange.identity);
        if (!onlyRequest(messages)) throw error;
        tellError(this.#deps, error, exchange);
        answerLocally(exchange, messages, errorOf(error));
        return undefined;
      }
      requests.push(named ?? request);
    }
    return { ...asked, messages: { ...messages, requests } };
  }

  #withOwnName(request: PendingRequest, { identity }: Exchange): PendingRequest | undefined {
    const { method, subject } = request;
    if (method !== 'tools/call' || subject === undefined) return request;
    const name = this.#deps.offered.called(subject, identity);
    if (name === undefined) return undefined;
    return name === subject ? request : underOwnName(request, name);
  }

  /** A call whose file is refused, or lacking: its client is told what to do. @throws whatever else was thrown */
  async #refuse(error: unknown, asked: Asked, offered: Authorization | undefined): Promise<void> {
    const { exchange, messages } = asked;
    const login = error instanceof GatewayError ? loginAnswer(error, asked) : undefined;
    if (login) return answerLocally(exchange, messages, login);
    if (!isAboutFile(error) || !onlyRequest(messages)) throw error;
    const { uploadLinks, ...deps } = this.#deps;
    const offering = offered ? { authorize: async () => offered } : uploadLinks;
    answerLocally(exchange, messages, await answerRefusedFile(error, asked, { ...deps, uploadLinks: offering }));
  }

  #caller(sender: Sender): Caller {
    const { exchange, messages, session } = sender;
    const client = clientFacts(exchange, messages, session, this.#deps.hosts);
    return { ...sender, client, inquire: this.#transports.inquire(sender) };
  }

  /** @param takesOver sees an answer on its own channel first */
  #forward(asked: Asked, takesOver?: TakesOver, transports = this.#transports): Promise<void> {
    const send = () => transports.forward(asked, takesOver);
    return this.#deps.watch?.forwarded(asked, send) ?? send();
  }

  get(exchange: Exchange): Promise<void> {
    // a version without sessions ignores the header, and its server has no such stream
    const found = namesStateless(exchange.headers['mcp-protocol-version']) ? undefined : this.#session(exchange);
    if (found instanceof Promise) return found.then((session) => this.#getIn(session, exchange));
    return this.#getIn(found, exchange);
  }

  #getIn(session: Session | undefined, exchange: Exchange): Promise<void> {
    const sender = { exchange, session };
    const own = this.#forHost(this.#caller(sender));
    const listen = () => own.#asking.listen(own.#caller(sender), (one) => own.#transports.get(one), own.#course);
    return this.#deps.watch?.listens?.(exchange, listen) ?? listen();
  }

  async remove(exchange: Exchange): Promise<void> {
    // without sessions there is nothing to end
    if (namesStateless(exchange.headers['mcp-protocol-version'])) {
      throw new GatewayError('method_not_allowed', { method: 'DELETE', allow: 'POST' });
    }
    const session = await this.#session(exchange);
    if (!session) throw new GatewayError('session_required');
    const caller = this.#caller({ exchange, session });
    // a server that has given it no id hears nothing of its end
    if (session.upstreamSession === undefined && session.principal !== exchange.principal)
      await letServerJudge(caller, this.#deps, this.#transports.overHttp);
    return this.#transports.remove(caller, session);
  }

  /** Reads a resource that a result of this server has linked to. @throws GatewayError */
  readLazy(lazy: LazyFile, signal: AbortSignal): Promise<FileRecord> {
    return readLazy(lazy, this, this.#deps, signal);
  }

  /** Resolves when the server can be reached. @throws the errors of all its transports, together */
  check(): Promise<void> {
    return this.#transports.check();
  }

  /** True for a program that has not been started. */
  get isUntried(): boolean {
    return this.#transports.isUntried;
  }

  close(): Promise<void> {
    return this.#transports.close();
  }

  /** A promise only of one that this process does not remember. @throws GatewayError `session_unknown` */
  #session(exchange: Exchange): Session | undefined | Promise<Session> {
    const id = exchange.headers['mcp-session-id'];
    if (typeof id !== 'string') return undefined;
    const note = (session: Session | undefined): Session => {
      if (!session) throw new GatewayError('session_unknown');
      exchange.facts.session = session.id;
      exchange.facts.client = session.clientName;
      return session;
    };
    const { principal, identity } = exchange;
    // a renewed token is another principal; whether it may go on with the session is for the server to say, as always
    const owner = identity.use === 'passthrough' ? undefined : principal;
    const found = this.#deps.sessions.find(id, owner, this.name);
    return found instanceof Promise ? found.then(note) : note(found);
  }
}
