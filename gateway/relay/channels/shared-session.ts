import { asGatewayError, GatewayError } from '../../errors.js';
import { clientFacts } from '../../mcp/client-facts.js';
import type { Inquire, OwnAnswer, ReadHeavy } from '../../mcp/inquire.js';
import { checkParamHeaders } from '../../mcp/param-headers.js';
import type { ClientMessages } from '../../mcp/request.js';
import type { JsonObject } from '../../ports/dialect.js';
import { argumentsOf } from '../arguments/heavy-arguments.js';
import { type ToUpstream, toUpstream } from '../arguments/to-upstream.js';
import { localMessage, onlyRequest } from '../client/local-answer.js';
import { type Exchange, noteError } from '../exchange.js';
import { fileAnswer } from '../local/offers.js';
import type { PendingRequest } from '../pending-request.js';
import type { Session } from '../session.js';
import { declaredBy } from '../upstream/declared.js';
import { OwnRequests } from '../upstream/own-channel.js';
import { viewOf } from '../upstream/view.js';
import { GetStream } from './get-stream.js';
import { ChannelInbox, type InboxOptions, type OpenShared } from './inbox.js';
import { ChannelNames, type Renamed } from './names.js';
import { PostStream } from './post-stream.js';
import { Sending } from './send-queue.js';
import { ChannelStreams } from './streams.js';

export interface SharedSessionOptions extends InboxOptions {
  /** The channel is gone, or about to be. May be called again. */
  closed: () => void;
}

/**
 * One channel to an upstream on which all messages travel (stdio, legacy SSE), and the clients that use it.
 */
export class SharedSession {
  readonly #options: SharedSessionOptions;
  readonly #streams: ChannelStreams;
  readonly #names = new ChannelNames();
  readonly #sending: Sending;
  readonly #own: OwnRequests;
  readonly #opened = new Map<PostStream, OpenShared>();
  readonly #abort = new AbortController();
  readonly #inbox: ChannelInbox;
  #lastUse = Date.now();
  #isOver = false;
  /** What the client that opened the session said of itself; a stateless client's facts come with each request. */
  session: Session | undefined;

  constructor(options: SharedSessionOptions) {
    this.#options = options;
    const { connection, deps } = options;
    this.#streams = new ChannelStreams(options.isShared, {
      most: deps.limits.abandoned,
      ms: deps.timeouts.upstream,
      givenUp: (ids) => {
        for (const id of ids) void this.#tellCancelled(id, 'nobody waits for it any more');
      },
    });
    this.#own = new OwnRequests(connection, declaredBy(deps), deps.limits);
    this.#sending = new Sending(connection);
    this.#inbox = new ChannelInbox(options, {
      streams: this.#streams,
      names: this.#names,
      own: this.#own,
      opened: this.#opened,
      session: () => this.session,
      inquire: (...parameters) => this.inquire(...parameters),
      signal: this.#abort.signal,
    });
    void this.#read();
  }

  /** True when the channel is gone. */
  get isOver(): boolean {
    return this.#isOver;
  }

  get principal(): string {
    return this.#options.principal;
  }

  /** Whether its client listens to what the server says on its own account. */
  get hasStream(): boolean {
    return this.#streams.get !== undefined;
  }

  /** Since when nothing was said on it; undefined while a call is under way. Milliseconds since the epoch. */
  get restingSince(): number | undefined {
    return this.#streams.posts.length > 0 ? undefined : Math.max(this.#lastUse, this.#inbox.lastHeard);
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
    const renamed = isShared ? await this.#names.rename(messages) : undefined;
    const pending = renamed
      ? new Map([[renamed.id, renamed.request]])
      : new Map(messages.requests.map((request) => [request.id, request]));
    this.#refuseTaken(pending);
    const outgoing = await this.#translated(exchange, messages, renamed?.bytes ?? messages.bytes);
    try {
      // another POST may have taken an id meanwhile
      this.#refuseTaken(pending);
    } catch (error) {
      await outgoing.done();
      throw error;
    }
    const stream = new PostStream(
      exchange,
      messages,
      pending,
      opened || isShared ? 'later' : 'now',
      deps.timeouts.idle,
    );
    await this.#converse(stream, outgoing, pending, renamed, opened);
  }

  /** From the sending of a POST's requests to their answers. */
  async #converse(
    stream: PostStream,
    outgoing: ToUpstream,
    pending: ReadonlyMap<string, PendingRequest>,
    renamed: Renamed | undefined,
    opened: OpenShared | undefined,
  ): Promise<void> {
    stream.release = outgoing.done;
    if (renamed) this.#names.keep(renamed);
    if (opened) this.#opened.set(stream, opened);
    this.#streams.add(stream, pending);
    const timer = opened && this.#limitOpening(stream);
    let runsOn = false;
    try {
      await this.#sending.requests(outgoing.message);
      await stream.done;
      if (stream.pending.size > 0) runsOn = await this.#clientLeft(stream);
    } catch (error) {
      if (!stream.exchange.response.headersSent) throw error;
      await this.#failSending(stream, asGatewayError(error));
    } finally {
      clearTimeout(timer);
      this.#opened.delete(stream);
      this.#lastUse = Date.now();
      runsOn &&= !this.#isOver;
      // a tool that is still at work needs what it was given: that goes with its answer, or with the channel
      this.#streams.remove(stream, runsOn ? outgoing.done : undefined);
      // nobody answers what was not sent, or cancelled; and should somebody, it is for nobody
      for (const id of pending.keys()) this.#names.forget(id);
      if (!runsOn) await outgoing.done();
    }
  }

  /** @throws GatewayError `request_invalid` */
  #refuseTaken(pending: ReadonlyMap<string, PendingRequest>): void {
    for (const id of pending.keys()) {
      if (this.#streams.has(id))
        throw new GatewayError('request_invalid', { reason: `the id ${id} is in use already` });
    }
  }

  /** A session that never opens would keep its client, and its process, for ever. */
  #limitOpening(stream: PostStream): NodeJS.Timeout {
    const { deps } = this.#options;
    const allowed = deps.timeouts.upstream;
    const facts = { server: deps.server, limit: 'timeouts.upstream', allowed };
    const fail = () => void stream.fail(new GatewayError('upstream_timeout', facts), (id) => id);
    return setTimeout(fail, allowed).unref();
  }

  /** A file that is gone shows when the message is sent; it is refused as it would have been before. */
  async #failSending(stream: PostStream, error: GatewayError): Promise<void> {
    const { exchange, messages } = stream;
    const { deps, principal } = this.#options;
    const [id] = stream.pending.keys();
    if (error.code !== 'file_refused' || id === undefined || !onlyRequest(messages)) {
      return stream.fail(error, (renamed) => this.#names.original(renamed));
    }
    noteError(exchange.facts, error);
    const { reason, argument } = error.facts;
    deps.log.info({ principal, reason, argument, err: error.cause }, 'a file was refused');
    const client = clientFacts(exchange, messages, this.session, deps.profiles);
    const { server, uploads, dialects } = deps;
    try {
      const answer = await fileAnswer(error, client, { server, principal, uploads, dialects });
      await stream.send([localMessage(messages, answer)], [id]);
    } catch (thrown) {
      await stream.fail(asGatewayError(thrown), (renamed) => this.#names.original(renamed));
    }
  }

  #translated(exchange: Exchange, messages: ClientMessages, bytes: Buffer): Promise<ToUpstream> {
    const { deps, principal } = this.#options;
    return toUpstream(bytes, messages, {
      deps,
      principal,
      client: clientFacts(exchange, messages, this.session, deps.profiles),
      inquire: (method, params, read) => this.inquire(method, params, messages, read),
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
    const inquire: Inquire = (method, params, read) => this.inquire(method, params, messages, read);
    const tool = await deps.catalog.tool(view, request.subject, inquire);
    if (!tool) return;
    const args = await argumentsOf(request, tool.slots, tool.paramHeaders, deps.limits);
    checkParamHeaders(tool.paramHeaders, args ?? {}, exchange.headers);
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
    // from now on nobody may begin anything on it
    this.#options.closed();
    this.#streams.get?.end();
    await this.#options.connection.close();
    await this.#over(new GatewayError('upstream_closed', { server: this.#options.deps.server }));
  }

  /**
   * 2026-07-28: closing the stream is the cancellation. Before that, a request that the client has not cancelled runs on,
   * and its answer is dropped.
   * @returns whether it runs on
   */
  async #clientLeft(stream: PostStream): Promise<boolean> {
    if (!this.#options.isShared) return !stream.isCancelled;
    for (const id of stream.pending.keys()) await this.#tellCancelled(id, 'the client closed its stream');
    return false;
  }

  /** @param id on the channel, as JSON text */
  async #tellCancelled(id: string, reason: string): Promise<void> {
    const message = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${id},"reason":"${reason}"}}`;
    await this.#options.connection.send(Buffer.from(message)).catch(() => {});
  }

  /** Until 2026-07-28. Later clients close their streams, and the ids of several are not those of the channel. */
  async #cancel(ids: readonly string[]): Promise<void> {
    if (this.#options.isShared) return;
    for (const id of ids) {
      const stream = this.#streams.of(id);
      stream?.cancel(id);
      if (!stream || stream.gone) await this.#streams.settle(id);
    }
  }

  async #read(): Promise<void> {
    const { deps } = this.#options;
    let reason: unknown;
    try {
      await this.#inbox.read();
    } catch (error) {
      reason = error;
    }
    // a message that came whole before the end is delivered; what only it could answer is not waited for
    this.#own.giveUp();
    await this.#inbox.delivered();
    await this.#over(reason ?? new GatewayError('upstream_closed', { server: deps.server }));
  }

  async #over(reason: unknown): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    const error = asGatewayError(reason);
    const { deps, connection, closed } = this.#options;
    closed();
    this.#inbox.abandon();
    this.#abort.abort(error);
    this.#own.giveUp();
    if (this.#streams.posts.length > 0) deps.log.warn({ code: error.code, err: error.cause }, 'the channel broke off');
    await Promise.all(this.#streams.posts.map((stream) => stream.fail(error, (id) => this.#names.original(id))));
    await this.#streams.end();
    this.#streams.get?.end();
    await connection.close();
  }

  /** Asks the server, for its client or for Wharf. */
  inquire(method: string, params: JsonObject, client?: ClientMessages, read?: ReadHeavy): Promise<OwnAnswer> {
    return this.#inbox.meanwhile(() => this.#own.ask(method, params, client, read));
  }
}
