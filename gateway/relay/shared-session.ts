import { asGatewayError, GatewayError } from '../errors.js';
import type { JsonObject } from '../ports/dialect.js';
import type { SharedConnection } from '../ports/upstream.js';
import type { HeldMessage } from '../wire/json/reader.js';
import { answersIn } from './answers.js';
import type { Inquire, OwnAnswer } from './catalog.js';
import { ChannelStreams } from './channel-streams.js';
import { isNoMessage, type Target } from './channel-target.js';
import { clientFacts } from './client-facts.js';
import { CutReader } from './cut-reader.js';
import { errorAnswer } from './error-answer.js';
import type { Exchange, RelayDeps } from './exchange.js';
import { GetStream } from './get-stream.js';
import { localMessage, onlyRequest, refusalAnswer } from './local-answer.js';
import type { MessageCuts } from './message-cuts.js';
import { OwnRequests } from './own-requests.js';
import { checkParamHeaders } from './param-headers.js';
import { PostStream } from './post-stream.js';
import { pump } from './pump.js';
import { type Mapping, namesBack, renameRequest } from './remap.js';
import { type ClientMessages, isObject, type PendingRequest } from './request.js';
import { Sending } from './sending.js';
import type { Session } from './session.js';
import { RANGE } from './slots.js';
import { type Addressee, dismiss, toClient } from './to-client.js';
import { declaredBy, type ToUpstream, toUpstream } from './to-upstream.js';
import { viewOf } from './view.js';

/** How long a server's request waits for a stream on which it can reach the client. */
const STREAM_WAIT_MS = 5000;

export interface SharedSessionOptions {
  deps: RelayDeps;
  connection: SharedConnection;
  principal: string;
  /** True when several clients use the channel, so that ids and tokens need names of their own. */
  isShared: boolean;
  /** The channel is gone. */
  closed: () => void;
}

/** Takes the result of an `initialize`; gives the id of the session it opens, none when it is an error. */
export type OpenShared = (result: HeldMessage) => Promise<string | undefined>;

/**
 * One channel to an upstream on which all messages travel (stdio, legacy SSE), and the clients that use it.
 */
export class SharedSession {
  readonly #options: SharedSessionOptions;
  readonly #streams: ChannelStreams;
  readonly #mappings = new Map<string, Mapping>();
  readonly #sending: Sending;
  readonly #own: OwnRequests;
  readonly #opened = new Map<PostStream, OpenShared>();
  readonly #abort = new AbortController();
  readonly #reader: CutReader;
  #tail: Promise<void> | undefined;
  #asking = 0;
  #resumeReading: () => void = () => {};
  #nextId = 1;
  #lastUse = Date.now();
  #isOver = false;
  /** What the client that opened the session said of itself; a stateless client's facts come with each request. */
  session: Session | undefined;

  constructor(options: SharedSessionOptions) {
    this.#options = options;
    this.#streams = new ChannelStreams(options.isShared);
    this.#own = new OwnRequests(options.connection, declaredBy(options.deps));
    this.#sending = new Sending(options.connection);
    const { connection, deps } = options;
    this.#reader = new CutReader(
      connection.kind,
      deps.cut,
      {
        message: (message, cuts) => this.#onMessage(message, cuts),
        noise: (line) => deps.log.debug({ bytes: line.length }, 'the server wrote a line that is no message'),
      },
      this.#abort.signal,
    );
    void this.#read();
  }

  /** Since when nobody has used the session, or undefined while somebody does. Milliseconds since the epoch. */
  get idleSince(): number | undefined {
    return this.#streams.posts.length > 0 || this.#streams.get ? undefined : this.#lastUse;
  }

  /**
   * Sends the messages of a POST and streams back what answers them.
   * @param opened called with the result of an `initialize`; gives the id of the session it opens
   */
  async post(exchange: Exchange, messages: ClientMessages, opened?: OpenShared): Promise<void> {
    const { deps, isShared } = this.#options;
    this.#lastUse = Date.now();
    if (messages.requests.length === 0) {
      await this.#sending.others(messages);
      await this.#cancel(messages.cancelled);
      exchange.response.writeHead(202);
      exchange.response.end();
      return;
    }
    if (isShared) await this.#checkParams(exchange, messages);
    let { bytes } = messages;
    let pending = new Map(messages.requests.map((request) => [request.id, request]));
    if (isShared) ({ bytes, pending } = this.#rename(messages, deps.limits.depth));
    for (const id of pending.keys()) {
      if (this.#streams.of(id)) throw new GatewayError('request_invalid', { reason: `the id ${id} is in use already` });
    }
    const outgoing = await this.#translated(exchange, messages, bytes);
    const head = opened || isShared ? 'later' : 'now';
    const stream = new PostStream(exchange, messages, pending, head, deps.timeouts.idle);
    stream.release = outgoing.done;
    if (opened) this.#opened.set(stream, opened);
    this.#streams.add(stream, pending);
    let runsOn = false;
    try {
      await this.#sending.requests(outgoing.message);
      await stream.done;
      if (stream.pending.size > 0) runsOn = await this.#clientLeft(stream);
    } catch (error) {
      if (!exchange.response.headersSent) throw error;
      await this.#failSending(stream, asGatewayError(error));
    } finally {
      this.#streams.remove(stream);
      this.#opened.delete(stream);
      this.#lastUse = Date.now();
      // nobody answers what was not sent, or cancelled; and should somebody, it is for nobody
      if (!runsOn) for (const id of pending.keys()) this.#forget(id);
      // a tool that is still at work needs what it was given: that goes with its answer, or with the channel
      if (!runsOn || this.#isOver) await outgoing.done();
    }
  }

  /** A file that is gone shows when the message is sent; it is refused as it would have been before. */
  async #failSending(stream: PostStream, error: GatewayError): Promise<void> {
    const { exchange, messages } = stream;
    const { deps, principal } = this.#options;
    const [id] = stream.pending.keys();
    if (error.code !== 'file_refused' || id === undefined || !onlyRequest(messages)) {
      return stream.fail(error, (renamed) => this.#originalId(renamed));
    }
    exchange.facts.error = error.code;
    const { reason, argument } = error.facts;
    deps.log.info({ principal, reason, argument, err: error.cause }, 'a file was refused');
    const client = clientFacts(exchange, messages, this.session, deps.profiles);
    await stream.send([localMessage(messages, refusalAnswer(error, client, deps.dialects))], [id]);
  }

  #translated(exchange: Exchange, messages: ClientMessages, bytes: Buffer): Promise<ToUpstream> {
    const { deps, principal } = this.#options;
    return toUpstream(bytes, messages, {
      deps,
      principal,
      client: clientFacts(exchange, messages, this.session, deps.profiles),
      inquire: (method, params) => this.inquire(method, params, messages),
      signal: exchange.signal,
      hasParamHeaders: false,
    });
  }

  /** A server on stdio has no headers to check: Wharf is the one that MUST compare them with the arguments. */
  async #checkParams(exchange: Exchange, messages: ClientMessages): Promise<void> {
    const [request] = messages.requests;
    if (exchange.headersFromBody || request?.method !== 'tools/call' || request.subject === undefined) return;
    const { deps, principal } = this.#options;
    const view = viewOf(messages.statelessVersion ?? '', principal);
    const inquire: Inquire = (method, params) => this.inquire(method, params, messages);
    const tool = await deps.catalog.tool(view, request.subject, inquire);
    const { arguments: args } = request.params;
    if (tool) checkParamHeaders(tool.paramHeaders, isObject(args) ? args : {}, exchange.headers);
  }

  /** The client's GET stream, until one of the two sides ends it. */
  async openGet(exchange: Exchange): Promise<void> {
    if (this.#streams.get) throw new GatewayError('stream_taken');
    this.#lastUse = Date.now();
    const stream = new GetStream(exchange, this.#options.deps.timeouts.idle);
    this.#streams.get = stream;
    await stream.done;
    this.#streams.get = undefined;
    this.#lastUse = Date.now();
  }

  /** Ends the channel; the process behind it is gone when this resolves. */
  async close(): Promise<void> {
    this.#streams.get?.end();
    await this.#options.connection.close();
    await this.#over(new GatewayError('upstream_closed', { server: this.#options.deps.server }));
  }

  #rename(messages: ClientMessages, maxDepth: number): { bytes: Buffer; pending: Map<string, PendingRequest> } {
    const [request] = messages.requests;
    if (!request || messages.isBatch) throw new GatewayError('request_invalid', { reason: 'a batch needs a session' });
    const id = String(this.#nextId++);
    const renamed = renameRequest(messages.bytes, id, maxDepth);
    this.#mappings.set(id, { id: request.id, progressToken: renamed.progressToken });
    return { bytes: renamed.bytes, pending: new Map([[id, request]]) };
  }

  /**
   * 2026-07-28: closing the stream is the cancellation. Before that, a request that the client has not cancelled runs on,
   * and its answer is dropped.
   * @returns whether it runs on
   */
  async #clientLeft(stream: PostStream): Promise<boolean> {
    if (!this.#options.isShared) return !stream.isCancelled;
    for (const id of stream.pending.keys()) {
      const params = `{"requestId":${id},"reason":"the client closed its stream"}`;
      const message = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":${params}}`;
      await this.#options.connection.send(Buffer.from(message)).catch(() => {});
    }
    return false;
  }

  /** Until 2026-07-28. Later clients close their streams, and the ids of several are not those of the channel. */
  async #cancel(ids: readonly string[]): Promise<void> {
    if (this.#options.isShared) return;
    for (const id of ids) {
      const stream = this.#streams.of(id);
      stream?.cancel(id);
      if (!stream?.gone) continue;
      this.#forget(id);
      await stream.missed(id);
    }
  }

  #originalId(id: string): string {
    return this.#mappings.get(id)?.id ?? id;
  }

  async #read(): Promise<void> {
    const { connection, deps } = this.#options;
    let reason: unknown;
    try {
      await pump(connection.body, (chunk) => this.#take(chunk), {
        server: deps.server,
        idleMs: deps.timeouts.idle,
        due: () => this.#reader.inMessage,
        signal: this.#abort.signal,
      });
    } catch (error) {
      reason = error;
    }
    // a message that came whole before the end is delivered; what only it could answer is not waited for
    this.#own.giveUp();
    await this.#tail;
    await this.#over(reason ?? new GatewayError('upstream_closed', { server: deps.server }));
  }

  async #over(reason: unknown): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    const error = asGatewayError(reason);
    const { deps, connection, closed } = this.#options;
    closed();
    await this.#reader.abandon();
    this.#abort.abort(error);
    this.#own.giveUp();
    if (this.#streams.posts.length > 0) deps.log.warn({ code: error.code, err: error.cause }, 'the channel broke off');
    await Promise.all(this.#streams.posts.map((stream) => stream.fail(error, (id) => this.#originalId(id))));
    await Promise.all([...this.#streams.unanswered].map((stream) => stream.release()));
    this.#streams.get?.end();
    await connection.close();
  }

  #take(chunk: Buffer): Promise<unknown> | undefined {
    const fed = this.#reader.feed(chunk);
    const settle = this.#reader.settle();
    if (!fed && !settle) return this.#backlog();
    return Promise.all([fed, settle]).then(() => this.#backlog());
  }

  /** While a message is being finished nothing more is read, unless it waits for an answer on this same channel. */
  #backlog(): Promise<unknown> | undefined {
    if (!this.#tail || this.#asking > 0) return undefined;
    const asked = new Promise<void>((resolve) => {
      this.#resumeReading = resolve;
    });
    return Promise.race([this.#tail, asked]);
  }

  #onMessage(message: HeldMessage, cuts: MessageCuts): void {
    if (isNoMessage(message) || this.#own.takes(message, cuts.failure !== undefined)) {
      cuts.release();
      return;
    }
    const run = (this.#tail ?? Promise.resolve()).then(() => this.#deliver(message, cuts));
    const tail = run
      .catch((error) => this.#options.deps.log.error({ err: error }, 'a message was lost'))
      .finally(() => {
        if (this.#tail === tail) this.#tail = undefined;
      });
    this.#tail = tail;
  }

  async #deliver(message: HeldMessage, cuts: MessageCuts): Promise<void> {
    const target = await this.#targetOf(message);
    if (!target || target.stream.gone) {
      await dismiss(cuts);
      await this.#undelivered(message, target);
      return;
    }
    try {
      await this.#open(message, target.stream);
    } catch (error) {
      await dismiss(cuts);
      if (target.stream instanceof PostStream)
        await target.stream.fail(asGatewayError(error), (id) => this.#originalId(id));
      return;
    }
    const outgoing = await toClient(message, cuts, this.#options.deps, this.#addressee(target));
    if (!outgoing) return;
    try {
      if (target.stream instanceof PostStream) await target.stream.send(outgoing.pieces, outgoing.answered);
      else await target.stream.send(outgoing.pieces);
    } finally {
      await outgoing.sent();
      for (const id of outgoing.answered) this.#forget(id);
    }
  }

  /** The result of an `initialize` opens the session, whose id goes out with it. */
  async #open(message: HeldMessage, stream: PostStream | GetStream): Promise<void> {
    if (!(stream instanceof PostStream)) return;
    const opened = this.#opened.get(stream);
    if (!opened || answersIn(message).length === 0) return;
    const id = await opened(message);
    if (id !== undefined) stream.setSession(id);
  }

  #addressee({ stream, exchange, facts }: Target): Addressee {
    const { principal, isShared } = this.#options;
    const messages = stream instanceof PostStream ? stream.messages : undefined;
    const addressee: Addressee = {
      principal,
      client: clientFacts(exchange, messages, this.session, this.#options.deps.profiles),
      answered: (id) => this.#streams.of(id)?.pending.get(id),
      inquire: (method, params) => this.inquire(method, params, messages),
      facts,
      signal: this.#abort.signal,
    };
    return isShared ? { ...addressee, remap: (message) => namesBack(message, this.#mappings) } : addressee;
  }

  async #targetOf(message: HeldMessage): Promise<Target | undefined> {
    const target = this.#streams.targetOf(message);
    const isRequest = message.captured(RANGE.id) !== undefined && answersIn(message).length === 0;
    if (target || !isRequest) return target;
    // the answer to other messages may be what opens a stream, so reading goes on
    this.#asking += 1;
    this.#resumeReading();
    await this.#streams.arrival(STREAM_WAIT_MS);
    this.#asking -= 1;
    return this.#streams.targetOf(message);
  }

  /** A message without a stream: a request must not hang, a notification is only counted. */
  async #undelivered(message: HeldMessage, target: Target | undefined): Promise<void> {
    const { deps, connection } = this.#options;
    for (const { id } of answersIn(message)) {
      const stream = this.#streams.of(id);
      this.#forget(id);
      await stream?.missed(id);
    }
    deps.metrics.count('wharf_dropped_messages_total', { reason: target ? 'client_gone' : 'no_stream' });
    const id = message.captured(RANGE.id);
    if (message.captured('method') === undefined || id === undefined) return;
    await connection.send(errorAnswer(new GatewayError('no_stream'), id)).catch(() => {});
  }

  #forget(id: string): void {
    this.#streams.forget(id);
    this.#mappings.delete(id);
  }

  /** Asks the server, for its client or for Wharf. */
  async inquire(method: string, params: JsonObject, client?: ClientMessages): Promise<OwnAnswer> {
    this.#asking += 1;
    this.#resumeReading();
    try {
      return await this.#own.ask(method, params, client);
    } finally {
      this.#asking -= 1;
    }
  }
}
