import { asGatewayError, GatewayError } from '../../errors.js';
import type { OwnAnswer, ReadHeavy } from '../../mcp/inquire.js';
import { checkParamHeaders } from '../../mcp/param-headers.js';
import type { ClientMessages } from '../../mcp/request.js';
import type { JsonObject } from '../../ports/dialect.js';
import { argumentsOf } from '../arguments/heavy-arguments.js';
import { type ToUpstream, toUpstream } from '../arguments/to-upstream.js';
import type { Asked, Caller } from '../caller.js';
import { localMessage, onlyRequest } from '../client/local-answer.js';
import { causeOf } from '../exchange.js';
import { answerRefusedFile } from '../local/offers.js';
import type { PendingRequest } from '../pending-request.js';
import { declaredBy } from '../upstream/declared.js';
import { OwnRequests } from '../upstream/own-channel.js';
import { viewOf } from '../upstream/view.js';
import { CallTasks } from './calls/call-tasks.js';
import { noteCancelled, unlessCancelled } from './calls/cancellations.js';
import type { ChannelDeps } from './deps.js';
import { GetStream } from './get-stream.js';
import { ChannelInbox, type InboxOptions, type OpenShared } from './inbox.js';
import { ChannelNames, type Renamed } from './names.js';
import { PostStream } from './post-stream.js';
import { SendQueue } from './send-queue.js';
import { ChannelStreams } from './streams.js';

/** By which a client finds out whether a server knows 2026-07-28: if not, it opens a session instead. */
const PROBE = 'server/discover';

const NONE: readonly string[] = [];

interface SharedSessionOptions extends InboxOptions {
  /** The channel is gone, or about to be. May be called repeatedly. */
  closed: () => void;
}

/** What is special about a POST. */
interface PostOptions {
  /** Called with the result of an `initialize`; returns the session it opens. */
  opened?: OpenShared | undefined;
  /** Of a call whose limits are lower than those of its session. */
  ofCall?: ChannelDeps | undefined;
}

/** What a POST says to the server, and what comes of it. */
interface Conversation {
  outgoing: ToUpstream;
  /** Where several clients use the channel: the request under its name there. */
  renamed: Renamed | undefined;
  /** Of an `initialize`. */
  opened: OpenShared | undefined;
}

/** One channel to an upstream that carries all messages (stdio, legacy SSE), and the clients that use it. */
export class SharedSession {
  readonly #options: SharedSessionOptions;
  readonly #streams: ChannelStreams;
  readonly #tasks: CallTasks;
  readonly #names = new ChannelNames();
  readonly #sending: SendQueue;
  readonly #own: OwnRequests;
  readonly #opened = new Map<PostStream, OpenShared>();
  readonly #abort = new AbortController();
  readonly #inbox: ChannelInbox;
  #lastUse: number;
  #isOver = false;
  /** Wharf ends it, so that its end is not a failure. */
  #isClosing = false;
  /** Until the server is asked anything but which versions it speaks. */
  #isOnlyProbed = true;

  constructor(options: SharedSessionOptions) {
    this.#options = options;
    const { connection, deps } = options;
    this.#lastUse = deps.clock.ticks();
    this.#streams = new ChannelStreams(options.isShared, {
      most: deps.limits.abandoned,
      ms: deps.timeouts.upstream,
      clock: deps.clock,
      givenUp: (ids) => {
        for (const id of ids) void this.#tellCancelled(id, 'its client no longer waits for it');
      },
    });
    this.#tasks = new CallTasks(deps);
    const { signal } = this.#abort;
    const owner = { principal: options.principal, server: deps.server };
    this.#own = new OwnRequests({ connection, declares: declaredBy(deps), cut: deps.cut, owner, signal });
    this.#sending = new SendQueue(connection, owner);
    this.#inbox = new ChannelInbox(options, {
      streams: this.#streams,
      names: this.#names,
      own: this.#own,
      tasks: this.#tasks,
      opened: this.#opened,
      signal: this.#abort.signal,
    });
    this.#read().catch((error) => deps.log.error({ err: error }, 'the channel could not be ended'));
  }

  /** True when the channel is gone. */
  get isOver(): boolean {
    return this.#isOver;
  }

  get principal(): string {
    return this.#options.principal;
  }

  /** True when its client listens to messages that the server sends on its own account. */
  get hasStream(): boolean {
    return this.#streams.get !== undefined;
  }

  /** True when clients have only asked which versions the server speaks, and wait for nothing. */
  get isProbe(): boolean {
    return this.#isOnlyProbed && !this.#streams.hasPosts;
  }

  /** Time of the last message, by the stopwatch; undefined while a call is running. */
  get restingSince(): number | undefined {
    return this.#streams.isBusy ? undefined : Math.max(this.#lastUse, this.#inbox.lastHeard);
  }

  /** Time since when the session is unused, by the stopwatch; undefined while it is in use. */
  get idleSince(): number | undefined {
    return this.#streams.isBusy || this.#streams.get ? undefined : this.#lastUse;
  }

  /** Keeps it in use while a call is on its way: its files are read, or its user is asked. @returns what ends that */
  keep(): () => void {
    return this.#streams.expect(() => this.#used());
  }

  /** Sends the messages of a POST and streams their answers back. */
  async post(given: Asked, { opened, ofCall = this.#options.deps }: PostOptions): Promise<void> {
    const { exchange, messages } = given;
    const { isShared } = this.#options;
    this.#used();
    this.#isOnlyProbed &&= messages.firstMethod === PROBE;
    noteCancelled(given);
    if (messages.requests.length === 0) {
      await this.others(messages);
      exchange.reply.all({ status: 202, body: 'other' });
      return;
    }
    const asked = this.#here(given);
    if (isShared) await this.#checkParams(asked);
    const name = isShared ? this.#names.next(messages) : undefined;
    const called = ({ id }: PendingRequest) => (name === undefined ? id : String(name));
    this.#refuseTaken(messages.requests.map(called));
    const prepared = this.#translated(asked, name, ofCall);
    const outgoing = prepared instanceof Promise ? await unlessCancelled(prepared, given) : prepared;
    if (!outgoing) return exchange.reply.all({ status: 202, body: 'other' });
    try {
      // nothing reads what the server would answer on a channel that has ended meanwhile
      if (this.#isOver) throw this.#closed();
      // another POST may have used an id meanwhile
      this.#refuseTaken(outgoing.requests.map(called));
    } catch (error) {
      await outgoing.done?.();
      throw error;
    }
    const files = outgoing.done && this.#tasks.filesOf(outgoing.requests.map(called), outgoing.done);
    const requests = this.#tasks.watched(outgoing.requests, files, exchange.principal);
    const pending = new Map(requests.map((request) => [called(request), request]));
    const [request] = requests;
    const renamed =
      request && name !== undefined
        ? { id: String(name), mapping: { id: request.id, progressToken: outgoing.progressToken } }
        : undefined;
    const head = opened || isShared ? 'later' : 'soon';
    const stream = new PostStream(asked, pending, { head, files, deps: this.#options.deps });
    await this.#converse(stream, { outgoing, renamed, opened });
  }

  /** From the sending of a POST's requests to their answers. */
  async #converse(stream: PostStream, { outgoing, renamed, opened }: Conversation): Promise<void> {
    const pending = new Map(stream.pending);
    if (renamed) this.#names.keep(renamed);
    if (opened) this.#opened.set(stream, opened);
    const place = this.#streams.add(stream, pending);
    const timer = opened && this.#limitOpening(stream);
    let runsOn = false;
    try {
      await this.#sending.requests(outgoing.messages);
      // a batch may cancel calls, also its own
      await this.#cancel(stream.caller.messages.cancelled);
      await stream.done;
      if (stream.pending.size > 0) runsOn = await this.#clientLeft(stream);
    } catch (error) {
      if (!stream.begun) throw error;
      await this.#failSending(stream, asGatewayError(error));
    } finally {
      clearTimeout(timer);
      this.#opened.delete(stream);
      this.#used();
      // a tool that is still working needs its files: they are removed with its answer, its task, or with the channel
      const left = runsOn && !this.#isOver ? stream.awaited : NONE;
      this.#streams.remove(place, left);
      // Requests that were never sent or were cancelled get no answer. One that arrives anyway is dropped.
      for (const id of pending.keys()) this.#names.forget(id);
      await stream.files?.over(without(pending.keys(), left));
      for (const [id, request] of pending)
        if (!stream.pending.has(id)) await this.#tasks.answered(request, stream.caller.exchange.principal);
    }
  }

  #used(): void {
    this.#lastUse = this.#options.deps.clock.ticks();
  }

  /** @throws GatewayError `request_invalid` */
  #refuseTaken(ids: Iterable<string>): void {
    for (const id of ids) {
      if (this.#streams.has(id))
        throw new GatewayError('request_invalid', { reason: `the id ${id} is in use already` });
    }
  }

  /** A session that never opens would keep its client, and its process, for ever. */
  #limitOpening(stream: PostStream): NodeJS.Timeout {
    const { deps } = this.#options;
    const allowed = deps.timeouts.upstream;
    const facts = { server: deps.server, limit: 'timeouts.upstream', allowed };
    return setTimeout(() => this.#tell(stream, new GatewayError('upstream_timeout', facts)), allowed).unref();
  }

  /** Ends a POST with an error. Its client may not read: what else comes of the error does not wait for that. */
  #tell(stream: PostStream, error: GatewayError): void {
    const warn = (err: unknown) => this.#options.deps.log.warn({ err }, 'a client could not be told');
    stream.fail(error, (id) => this.#names.original(id)).catch(warn);
  }

  /** A missing file is noticed when the message is sent; the call is then refused as it would have been before. */
  async #failSending(stream: PostStream, error: GatewayError): Promise<void> {
    const { messages } = stream.caller;
    const [id] = stream.pending.keys();
    if (error.code !== 'file_refused' || id === undefined || !onlyRequest(messages)) {
      return stream.fail(error, (renamed) => this.#names.original(renamed));
    }
    try {
      const answer = await answerRefusedFile(error, stream.caller, this.#options.deps);
      await stream.send([localMessage(messages, answer)], [id]);
    } catch (thrown) {
      await stream.fail(asGatewayError(thrown), (renamed) => this.#names.original(renamed));
    }
  }

  /** @param id of its only request on a channel of several clients */
  #translated(
    { exchange, messages, client, inquire }: Asked,
    id: number | undefined,
    deps: ChannelDeps,
  ): ToUpstream | Promise<ToUpstream> {
    const { principal } = this.#options;
    const { signal, identity, facts } = exchange;
    const asked = { deps, principal, identity, by: causeOf(exchange), facts, client, inquire, signal };
    // no SDK's server reads a batch from a line, and one of legacy SSE takes one message in a POST
    const context = { ...asked, hasParamHeaders: false, takesBatches: false };
    return toUpstream(messages, id === undefined ? context : { ...context, id });
  }

  /** The caller asks on this channel from now on: while a session is being opened there is no other way. */
  #here<One extends Caller>(caller: One): One {
    return { ...caller, inquire: (method, params, read) => this.inquire(method, params, caller.messages, read) };
  }

  /** A stdio server has no headers to check: Wharf MUST compare them with the arguments itself. */
  async #checkParams({ exchange, messages, inquire }: Asked): Promise<void> {
    const [request] = messages.requests;
    if (exchange.headersFromBody || request?.method !== 'tools/call' || request.subject === undefined) return;
    const { deps, principal } = this.#options;
    const view = viewOf(messages.statelessVersion ?? '', principal);
    const tool = await deps.catalog.tool(view, request.subject, inquire);
    if (!tool || tool.paramHeaders.length === 0) return;
    const args = await argumentsOf(request, tool.slots, tool.paramHeaders, {
      owner: { principal, server: deps.server },
      limits: deps.limits,
    });
    const files = new Set(tool.slots.map(({ path }) => path.join('.')));
    // clients are not shown that a file is repeated in a header, so they may leave it out
    const due = tool.paramHeaders.filter(
      ({ header, path }) => header in exchange.headers || !files.has(path.join('.')),
    );
    checkParamHeaders(due, args ?? {}, exchange.headers);
  }

  /** The client's GET stream, until either side ends it. */
  async openGet(caller: Caller): Promise<void> {
    if (this.#streams.get) throw new GatewayError('stream_taken');
    this.#used();
    const stream = new GetStream(this.#here(caller));
    this.#streams.get = stream;
    this.#inbox.catchUp(stream);
    await stream.done;
    this.#streams.get = undefined;
    this.#used();
  }

  /** Ends the channel; the process behind it is gone when this resolves. */
  async close(): Promise<void> {
    this.#isClosing = true;
    // from now on nothing new may begin on it
    this.#options.closed();
    try {
      await this.#options.connection.close();
      await this.#over(this.#closed());
    } finally {
      // not sooner: its client would open it again, in vain, before it hears that its session has ended
      this.#streams.get?.end();
    }
  }

  /**
   * 2026-07-28: closing the stream is the cancellation. Before that, a request that the client has not cancelled
   * continues, and its answer is dropped.
   * @returns true when it continues
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

  /**
   * Sends what needs no answer. Clients of 2026-07-28 close their streams instead of cancelling: the id that one of them names may
   * be that of another client's call on their channel, so a cancellation does not reach the server.
   */
  async others(messages: ClientMessages): Promise<void> {
    if (this.#options.isShared && messages.cancelled.length > 0) {
      if (messages.isBatch) throw this.#names.noBatch();
      return;
    }
    await this.#sending.others(messages);
    await this.#cancel(messages.cancelled);
  }

  /** For versions before 2026-07-28, as `others`. */
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
    const reason: unknown = await this.#inbox.read().catch((error: unknown) => error);
    // a message completed before the end is delivered; requests only it could answer are not awaited
    this.#own.giveUp();
    await this.#inbox.delivered();
    const error = asGatewayError(reason ?? this.#closed());
    // an exchange that waits logs its failure itself, with the same cause
    const leftOut =
      this.#isClosing || this.#streams.hasPosts ? undefined : deps.fewLines.take(`broken channel ${deps.server}`);
    if (leftOut) {
      const fields = { principal: this.principal, code: error.code, err: error.cause, ...leftOut };
      deps.log.warn(fields, 'the channel broke off');
    }
    await this.#over(error);
  }

  #closed(): GatewayError {
    return new GatewayError('upstream_closed', { server: this.#options.deps.server });
  }

  async #over(error: GatewayError): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#options.closed();
    this.#inbox.abandon();
    this.#abort.abort(error);
    this.#own.giveUp();
    for (const stream of this.#streams.posts) this.#tell(stream, error);
    await this.#streams.end();
    await this.#tasks.end();
    if (!this.#isClosing) this.#streams.get?.end();
    await this.#options.connection.close();
  }

  /** Asks the server, for its client or for Wharf. */
  inquire(method: string, params: JsonObject, client?: ClientMessages, read?: ReadHeavy): Promise<OwnAnswer> {
    this.#isOnlyProbed = false;
    return this.#inbox.meanwhile(() => this.#own.ask(method, params, client, read));
  }
}

function without(ids: Iterable<string>, others: readonly string[]): string[] {
  const excluded = new Set(others);
  return [...ids].filter((id) => !excluded.has(id));
}
