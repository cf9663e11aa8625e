import { breathe } from '../../budget/turn.js';
import { asGatewayError, GatewayError } from '../../errors.js';
import type { Edits } from '../../json/edit.js';
import type { Piece } from '../../json/written.js';
import { clientFacts } from '../../mcp/client-facts.js';
import { errorAnswer } from '../../mcp/error-response.js';
import { RANGE } from '../../mcp/ranges.js';
import { answersIn, elicitationIn } from '../../mcp/responses.js';
import type { Owner } from '../../ports/owner.js';
import type { SharedConnection } from '../../ports/upstream.js';
import type { HeldMessage } from '../../wire/json/reader.js';
import type { MessageCuts } from '../cut/message-cuts.js';
import { CutReader } from '../cut/reader.js';
import type { Addressee } from '../pending-request.js';
import { dismiss, tellsOfChange, toClient, untouched } from '../results/to-client.js';
import type { Session } from '../session.js';
import { BEGINNING_BYTES } from '../upstream/beginning.js';
import type { OwnRequests } from '../upstream/own-channel.js';
import { pump } from '../upstream/pump.js';
import { viewOf } from '../upstream/view.js';
import { BeforeSession, STREAM_WAIT_MS } from './before-session.js';
import type { CallTasks } from './calls/call-tasks.js';
import { CHANNEL_TREES, endedBy, isNoMessage, isRequest, isRpc } from './channel-message.js';
import type { ChannelDeps } from './deps.js';
import type { GetStream } from './get-stream.js';
import { MissedChanges } from './missed-changes.js';
import type { ChannelNames } from './names.js';
import { Noise } from './noise.js';
import { PostStream } from './post-stream.js';
import { namesBack } from './rename-ids.js';
import { ShortLines } from './short-lines.js';
import type { ChannelStreams, Target } from './streams.js';

/**
 * Most messages that wait their turn while reading continues, because one before them waits for a stream, or Wharf for an
 * answer of the server. Their bytes count against `limits.held`; this bounds their other costs.
 */
const MOST_QUEUED = 2000;

/** The only request that a server may end without an answer: the client of any other waits for one. */
const LISTEN = 'subscriptions/listen';

/** Takes the result of an `initialize`; returns the session it opens, undefined for an error. */
export type OpenShared = (result: HeldMessage) => Promise<Session | undefined>;

export interface InboxOptions {
  deps: ChannelDeps;
  connection: SharedConnection;
  principal: string;
  /** True when several clients use the channel, so that ids and tokens must be renamed. */
  isShared: boolean;
}

/** State that it uses and others change. */
interface InboxParts {
  streams: ChannelStreams;
  names: ChannelNames;
  own: OwnRequests;
  tasks: CallTasks;
  /** The POSTs whose answers open the session. */
  opened: ReadonlyMap<PostStream, OpenShared>;
  signal: AbortSignal;
}

/** Reads a server's messages on a channel and brings them to the right clients. */
export class ChannelInbox {
  readonly #options: InboxOptions;
  readonly #owner: Owner;
  readonly #parts: InboxParts;
  readonly #reader: CutReader;
  /** Only where the server writes lines. */
  readonly #lines: ShortLines | undefined;
  /** Until the session is open: the server's messages besides the answer that opens it. */
  #early: BeforeSession | undefined;
  readonly #missed = new MissedChanges();
  readonly #noise: Noise;
  /** Of the client's session: where its tools are kept. */
  #view: string | undefined;
  #tail: Promise<void> | undefined;
  /** Messages whose turn has not come. */
  #queued = 0;
  /** When a message of the server last reached its client's stream, by the stopwatch. */
  lastHeard = 0;
  #asking = 0;
  #resumeReading: () => void = () => {};

  constructor(options: InboxOptions, parts: InboxParts) {
    this.#options = options;
    this.#parts = parts;
    const { connection, deps, principal } = options;
    this.#owner = { principal, server: deps.server };
    this.#noise = new Noise(deps, connection);
    if (!options.isShared) this.#early = new BeforeSession({ connection, metrics: deps.metrics, server: deps.server });
    if (connection.kind === 'lines') {
      this.#lines = new ShortLines({
        deps,
        streams: parts.streams,
        mayPass: () => !this.#early && !this.#tail,
        named: (line, id) => (options.isShared ? parts.names.answerBack(line, id) : [line]),
        pass: (pieces, id, stream) => this.#pass(stream, pieces, [id]),
        read: (bytes) => this.#read(bytes),
        waits: () => this.#backlog(),
      });
    }
    this.#reader = new CutReader(
      connection.kind,
      { ...deps.cut, tree: CHANNEL_TREES.of(deps.dialects, deps.cut.fileMin) },
      {
        message: (message, cuts) => this.#onMessage(message, cuts),
        noise: (line) => this.#noise.note(line),
        backlog: () => this.#backlog(),
      },
      { owner: this.#owner, signal: parts.signal },
    );
  }

  /** Reads the channel to its end. @throws the error that ended it otherwise */
  async read(): Promise<void> {
    const { connection, deps } = this.#options;
    const { heard } = deps.watch ?? {};
    const take = (chunk: Buffer) => (this.#lines ? this.#lines.feed(chunk) : this.#read(chunk));
    await pump(
      connection.body,
      heard ? (chunk) => heard(this.#parts.streams.only?.exchange, () => take(chunk)) : take,
      {
        server: deps.server,
        principal: this.#options.principal,
        pace: deps.pace,
        due: () => this.#reader.inMessage,
        signal: this.#parts.signal,
      },
    );
  }

  /** Resolves when every complete message has been delivered. */
  async delivered(): Promise<void> {
    await this.#tail;
  }

  /** Tells a client that had no stream open which lists have changed meanwhile. */
  catchUp(stream: GetStream): void {
    if (!this.#missed.isEmpty) this.#queue(() => this.#missed.tell(stream));
  }

  /** The channel is gone: drops an unfinished message. */
  abandon(): void {
    this.#reader.abandon();
    this.#early?.end();
  }

  /** Keeps reading messages while the task waits for an answer of the server. */
  async meanwhile<Value>(task: () => Promise<Value>): Promise<Value> {
    this.#asking += 1;
    this.#resumeReading();
    try {
      return await task();
    } finally {
      this.#asking -= 1;
    }
  }

  #read(chunk: Buffer): Promise<unknown> | undefined {
    const fed = this.#reader.feed(chunk);
    const settle = this.#reader.settle();
    if (!fed && !settle) return this.#backlog();
    return Promise.all([fed, settle]).then(() => this.#backlog());
  }

  /** Reading stops while a message is being finished, unless that waits for an answer on this same channel. */
  #backlog(): Promise<unknown> | undefined {
    if (!this.#tail || (this.#asking > 0 && this.#queued < MOST_QUEUED)) return undefined;
    const asked = new Promise<void>((resolve) => {
      this.#resumeReading = resolve;
    });
    return Promise.race([this.#tail, asked]);
  }

  #onMessage(message: HeldMessage, cuts: MessageCuts): void {
    if (isNoMessage(message)) cuts.release();
    else if (this.#parts.own.takes(message, cuts)) return;
    else if (isRpc(message)) {
      if (this.#passes(message, cuts)) return;
      const readAt = this.#options.deps.clock.ticks();
      this.#queue(() => this.#deliver(message, cuts, readAt));
    } else {
      this.#noise.note(message.slice(0, BEGINNING_BYTES), message.size);
      if (message.slots.length === 0) cuts.release();
      else this.#queue(() => dismiss(cuts));
    }
  }

  /**
   * Sends a message on in this turn if nothing in it needs work, as in most answers: without the stages that look for it,
   * a short call costs a sixth less.
   * @returns whether it did
   */
  #passes(message: HeldMessage, cuts: MessageCuts): boolean {
    if (this.#early || this.#tail || message.malformed) return false;
    const target = this.#parts.streams.targetOf(message);
    if (!(target instanceof PostStream) || target.gone || this.#endedOn(target, message) !== undefined) return false;
    const pieces = untouched(message, cuts, this.#options.deps, this.#addressee(target));
    if (!pieces) return false;
    this.#parts.tasks.heard(message, this.#options.principal);
    const answered = answersIn(message).map(({ id }) => this.#parts.streams.idOf(id));
    this.#pass(target, pieces, answered, { asks: elicitationIn(message), cuts });
    return true;
  }

  /** @param cuts of the message, from which nothing was cut, if it was read */
  #pass(
    target: PostStream,
    pieces: readonly Piece[],
    answered: readonly string[],
    { asks, cuts }: { asks?: string | undefined; cuts?: MessageCuts } = {},
  ): void {
    const settle = () => {
      cuts?.release();
      const [only, ...others] = answered;
      if (only === undefined) return undefined;
      return others.length === 0 ? this.#settle(only) : this.#settleAll(answered);
    };
    const sent = target.send(pieces, answered, asks);
    // what a slow client has not read is still held
    if (sent) this.#queue(() => sent.finally(settle));
    else {
      const settled = settle();
      if (settled) this.#queue(() => settled);
    }
  }

  #queue(task: () => Promise<void>): void {
    this.#queued += 1;
    const run = (this.#tail ?? Promise.resolve()).then(() => {
      this.#queued -= 1;
      return task();
    });
    const tail = run
      .catch((error) => this.#options.deps.log.error({ err: error }, 'a message was lost'))
      .finally(() => {
        if (this.#tail === tail) this.#tail = undefined;
      });
    this.#tail = tail;
  }

  async #deliver(message: HeldMessage, cuts: MessageCuts, readAt: number): Promise<void> {
    await breathe(this.#owner);
    if (this.#early && answersIn(message).length === 0) return this.#early.take(message, cuts);
    this.#parts.tasks.heard(message, this.#options.principal);
    // malformed JSON cannot be passed on, but the request that waits for it is known
    if (message.malformed) cuts.fail(new GatewayError('upstream_invalid', { reason: message.malformed.reason }));
    const target = await this.#targetOf(message, readAt);
    if (!target || target.gone) {
      if (!cuts.failure) await this.#noteTasks(message);
      await dismiss(cuts);
      await this.#undelivered(message, target);
      return;
    }
    try {
      await this.#open(message, target);
    } catch (error) {
      await dismiss(cuts);
      if (target instanceof PostStream)
        await target.fail(asGatewayError(error), (id) => this.#parts.names.original(id));
      return;
    }
    await this.#forward(message, cuts, target);
  }

  async #forward(message: HeldMessage, cuts: MessageCuts, target: Target): Promise<void> {
    const outgoing = await toClient(message, cuts, this.#options.deps, this.#addressee(target));
    if (!outgoing) return;
    const ended = this.#endedOn(target, message);
    const answered = ended === undefined ? outgoing.answered.map((id) => this.#parts.streams.idOf(id)) : [ended];
    try {
      if (target instanceof PostStream) {
        if (ended === undefined) await target.send(outgoing.pieces, answered, elicitationIn(message));
        else await target.over(outgoing.pieces, ended);
      } else {
        this.lastHeard = this.#options.deps.clock.ticks();
        await target.send(outgoing.pieces, elicitationIn(message));
      }
    } finally {
      await outgoing.sent();
      await this.#settleAll(answered);
    }
  }

  /** The subscription whose stream has begun, and which the server ends with this message. */
  #endedOn(target: Target, message: HeldMessage): string | undefined {
    if (!this.#options.isShared || !(target instanceof PostStream) || !target.begun) return undefined;
    const id = endedBy(message);
    const known = id === undefined ? undefined : this.#parts.streams.idOf(id);
    return known !== undefined && target.pending.get(known)?.method === LISTEN ? known : undefined;
  }

  /** Opens the session for the result of an `initialize`, and sends its id with it; earlier messages follow. */
  async #open(message: HeldMessage, target: Target): Promise<void> {
    const early = this.#early;
    if (!(target instanceof PostStream) || !early) return;
    const session = await this.#parts.opened.get(target)?.(message);
    if (session) {
      const { exchange, messages } = target.caller;
      const client = clientFacts(exchange, messages, session, this.#options.deps.hosts);
      target.opened(session, client);
      this.#view = viewOf(client.protocolVersion, this.#options.principal);
      this.#early = undefined;
    }
    await early.release(session !== undefined, (waiting, cuts) => this.#forward(waiting, cuts, target));
  }

  #addressee({ caller: { exchange, client, inquire } }: Target): Addressee {
    return {
      identity: exchange.identity,
      principal: this.#options.principal,
      client,
      inquire,
      answered: (id) => {
        const known = this.#parts.streams.idOf(id);
        return this.#parts.streams.of(known)?.pending.get(known);
      },
      facts: exchange.facts,
      address: exchange.address,
      signal: this.#parts.signal,
      remap: (message, edits) => this.#namesBack(message, edits),
    };
  }

  /** Restores the clients' own names, and an id in the client's spelling. */
  #namesBack(message: HeldMessage, edits: Edits): number {
    if (this.#options.isShared) return this.#parts.names.back(message, edits);
    return namesBack(message, edits, (id) => {
      const known = this.#parts.streams.idOf(id);
      return known === id ? undefined : { id: known, progressToken: undefined };
    });
  }

  async #targetOf(message: HeldMessage, readAt: number): Promise<Target | undefined> {
    const { streams, signal } = this.#parts;
    const target = streams.targetOf(message);
    if (target || !isRequest(message)) return target;
    // one after the other, those that came together would wait for hours
    const left = STREAM_WAIT_MS - (this.#options.deps.clock.ticks() - readAt);
    // the answer to other messages may open a stream, so reading continues
    if (left > 0) await this.meanwhile(() => streams.arrival(left, signal));
    return streams.targetOf(message);
  }

  /** An answer that its client will not get may create a task, which its client still finds in the server's list. */
  async #noteTasks(message: HeldMessage): Promise<void> {
    const { streams, tasks } = this.#parts;
    for (const { id, base } of answersIn(message)) {
      const call = streams.lost(streams.idOf(id));
      if (call) await tasks.missed(message, base, { ...call, principal: this.#options.principal });
    }
  }

  /** A message found no stream: refuses a request, keeps the change of a list for the next stream, counts all else. */
  async #undelivered(message: HeldMessage, target: Target | undefined): Promise<void> {
    const { deps, connection } = this.#options;
    for (const { id } of answersIn(message)) await this.#settle(this.#parts.streams.idOf(id));
    if (this.#view !== undefined) {
      if (tellsOfChange(message)) deps.catalog.forget(this.#view);
      if (this.#missed.note(message)) return;
    }
    const { metrics, server } = deps;
    metrics.count('wharf_dropped_messages_total', { server, reason: target ? 'client_gone' : 'no_stream' });
    if (!isRequest(message)) return;
    await connection.send(errorAnswer(new GatewayError('no_stream'), message.captured(RANGE.id))).catch(() => {});
  }

  /** A request is answered, or its answer is no longer wanted. */
  #settle(id: string): Promise<void> | undefined {
    this.#parts.names.forget(id);
    return this.#parts.streams.settle(id);
  }

  async #settleAll(ids: readonly string[]): Promise<void> {
    for (const id of ids) await this.#settle(id);
  }
}
