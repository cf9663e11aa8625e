import { breathe } from '../../budget/turn.js';
import { asGatewayError, GatewayError } from '../../errors.js';
import type { Edit } from '../../json/edits.js';
import { clientFacts } from '../../mcp/client-facts.js';
import { errorAnswer } from '../../mcp/error-response.js';
import type { OwnAnswer, ReadHeavy } from '../../mcp/inquire.js';
import { RANGE } from '../../mcp/ranges.js';
import type { ClientMessages } from '../../mcp/request.js';
import { answersIn } from '../../mcp/responses.js';
import type { JsonObject } from '../../ports/dialect.js';
import type { SharedConnection } from '../../ports/upstream.js';
import type { HeldMessage } from '../../wire/json/reader.js';
import type { WatchTree } from '../../wire/json/watch-tree.js';
import type { MessageCuts } from '../cut/message-cuts.js';
import { CutReader } from '../cut/reader.js';
import type { Addressee } from '../pending-request.js';
import { dismiss, toClient } from '../results/to-client.js';
import type { Session } from '../session.js';
import type { OwnRequests } from '../upstream/own-channel.js';
import { pump } from '../upstream/pump.js';
import { BeforeSession, STREAM_WAIT_MS } from './before-session.js';
import { isNoMessage, isRequest, isRpc } from './channel-message.js';
import type { ChannelDeps } from './deps.js';
import type { ChannelNames } from './names.js';
import { PostStream } from './post-stream.js';
import { namesBack } from './rename-ids.js';
import type { ChannelStreams } from './streams.js';
import type { Target } from './target.js';

/** Takes the result of an `initialize`; gives the id of the session it opens, none when it is an error. */
export type OpenShared = (result: HeldMessage) => Promise<string | undefined>;

export interface InboxOptions {
  deps: ChannelDeps;
  connection: SharedConnection;
  principal: string;
  /** What matters in its messages, from `channelTree`. */
  tree: WatchTree;
  /** True when several clients use the channel, so that ids and tokens need names of their own. */
  isShared: boolean;
}

/** What it works with, and others change. */
export interface InboxParts {
  streams: ChannelStreams;
  names: ChannelNames;
  own: OwnRequests;
  /** The POSTs whose answers open the session. */
  opened: ReadonlyMap<PostStream, OpenShared>;
  session: () => Session | undefined;
  inquire: (method: string, params: JsonObject, client?: ClientMessages, read?: ReadHeavy) => Promise<OwnAnswer>;
  signal: AbortSignal;
}

/** What a server says on a channel, message by message, brought to the clients that it is for. */
export class ChannelInbox {
  readonly #options: InboxOptions;
  readonly #parts: InboxParts;
  readonly #reader: CutReader;
  /** Until the session is open: what the server says besides the answer that opens it. */
  #early: BeforeSession | undefined;
  #tail: Promise<void> | undefined;
  /** When a message of the server's last reached its client's stream. Milliseconds since the epoch. */
  lastHeard = 0;
  #asking = 0;
  #resumeReading: () => void = () => {};

  constructor(options: InboxOptions, parts: InboxParts) {
    this.#options = options;
    this.#parts = parts;
    const { connection, deps, principal } = options;
    if (!options.isShared) this.#early = new BeforeSession({ connection, metrics: deps.metrics });
    this.#reader = new CutReader(
      connection.kind,
      { ...deps.cut, tree: options.tree },
      { principal, server: deps.server },
      {
        message: (message, cuts) => this.#onMessage(message, cuts),
        noise: (line) => this.#noise(line.length),
      },
      parts.signal,
    );
  }

  /** Reads the channel to its end. @throws what ended it otherwise */
  async read(): Promise<void> {
    const { connection, deps } = this.#options;
    await pump(connection.body, (chunk) => this.#take(chunk), {
      server: deps.server,
      pace: deps.pace,
      due: () => this.#reader.inMessage,
      signal: this.#parts.signal,
    });
  }

  /** Resolves when what came whole has been delivered. */
  async delivered(): Promise<void> {
    await this.#tail;
  }

  /** The channel is gone: nothing of an unfinished message stays behind. */
  abandon(): void {
    this.#reader.abandon();
    this.#early?.end();
  }

  /** While the task waits for something that only the server can say, its messages are read on. */
  async meanwhile<Value>(task: () => Promise<Value>): Promise<Value> {
    this.#asking += 1;
    this.#resumeReading();
    try {
      return await task();
    } finally {
      this.#asking -= 1;
    }
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
    if (isNoMessage(message) || this.#parts.own.takes(message, cuts.failure !== undefined)) cuts.release();
    else if (isRpc(message)) this.#queue(() => this.#deliver(message, cuts));
    else {
      this.#noise(message.size);
      if (message.slots.length === 0) cuts.release();
      else this.#queue(() => dismiss(cuts));
    }
  }

  /** What servers print, or log as JSON. Nothing is said of what it is. */
  #noise(bytes: number): void {
    const { deps } = this.#options;
    deps.metrics.count('wharf_dropped_messages_total', { reason: 'no_message' });
    deps.log.debug({ bytes }, 'the server wrote what is no message');
  }

  #queue(task: () => Promise<void>): void {
    const run = (this.#tail ?? Promise.resolve()).then(task);
    const tail = run
      .catch((error) => this.#options.deps.log.error({ err: error }, 'a message was lost'))
      .finally(() => {
        if (this.#tail === tail) this.#tail = undefined;
      });
    this.#tail = tail;
  }

  async #deliver(message: HeldMessage, cuts: MessageCuts): Promise<void> {
    await breathe();
    if (this.#early && answersIn(message).length === 0) return this.#early.take(message, cuts);
    // of what is no JSON nothing can be passed on, but that somebody waits for it is known
    if (message.malformed) cuts.fail(new GatewayError('upstream_invalid', { reason: message.malformed.reason }));
    const target = await this.#targetOf(message);
    if (!target || target.stream.gone) {
      await dismiss(cuts);
      await this.#undelivered(message, target);
      return;
    }
    try {
      await this.#open(message, target);
    } catch (error) {
      await dismiss(cuts);
      if (target.stream instanceof PostStream)
        await target.stream.fail(asGatewayError(error), (id) => this.#parts.names.original(id));
      return;
    }
    await this.#forward(message, cuts, target);
  }

  async #forward(message: HeldMessage, cuts: MessageCuts, target: Target): Promise<void> {
    const outgoing = await toClient(message, cuts, this.#options.deps, this.#addressee(target));
    if (!outgoing) return;
    const answered = outgoing.answered.map((id) => this.#parts.streams.idOf(id));
    try {
      if (target.stream instanceof PostStream) await target.stream.send(outgoing.pieces, answered);
      else {
        this.lastHeard = Date.now();
        await target.stream.send(outgoing.pieces);
      }
    } finally {
      await outgoing.sent();
      for (const id of answered) await this.#settle(id);
    }
  }

  /** The result of an `initialize` opens the session, whose id goes out with it; then goes what came before it. */
  async #open(message: HeldMessage, target: Target): Promise<void> {
    const { stream } = target;
    const early = this.#early;
    if (!(stream instanceof PostStream) || !early) return;
    const id = await this.#parts.opened.get(stream)?.(message);
    if (id !== undefined) {
      stream.setSession(id);
      this.#early = undefined;
    }
    await early.release(id !== undefined, (waiting, cuts) => this.#forward(waiting, cuts, target));
  }

  #addressee({ stream, exchange, facts }: Target): Addressee {
    const { principal } = this.#options;
    const messages = stream instanceof PostStream ? stream.messages : undefined;
    return {
      principal,
      client: clientFacts(exchange, messages, this.#parts.session(), this.#options.deps.profiles),
      answered: (id) => {
        const known = this.#parts.streams.idOf(id);
        return this.#parts.streams.of(known)?.pending.get(known);
      },
      inquire: (method, params, read) => this.#parts.inquire(method, params, messages, read),
      facts,
      signal: this.#parts.signal,
      remap: (message) => this.#namesBack(message),
    };
  }

  /** Clients get their own names back, and an id in the spelling in which they gave it. */
  #namesBack(message: HeldMessage): Edit[] {
    if (this.#options.isShared) return this.#parts.names.back(message);
    return namesBack(message, (id) => {
      const known = this.#parts.streams.idOf(id);
      return known === id ? undefined : { id: known, progressToken: undefined };
    });
  }

  async #targetOf(message: HeldMessage): Promise<Target | undefined> {
    const target = this.#parts.streams.targetOf(message);
    if (target || !isRequest(message)) return target;
    // the answer to other messages may be what opens a stream, so reading goes on
    await this.meanwhile(() => this.#parts.streams.arrival(STREAM_WAIT_MS));
    return this.#parts.streams.targetOf(message);
  }

  /** A message without a stream: a request must not hang, a notification is only counted. */
  async #undelivered(message: HeldMessage, target: Target | undefined): Promise<void> {
    const { deps, connection } = this.#options;
    for (const { id } of answersIn(message)) await this.#settle(this.#parts.streams.idOf(id));
    deps.metrics.count('wharf_dropped_messages_total', { reason: target ? 'client_gone' : 'no_stream' });
    if (!isRequest(message)) return;
    await connection.send(errorAnswer(new GatewayError('no_stream'), message.captured(RANGE.id))).catch(() => {});
  }

  /** A request is answered, or nobody waits for its answer. */
  async #settle(id: string): Promise<void> {
    this.#parts.names.forget(id);
    await this.#parts.streams.settle(id);
  }
}
