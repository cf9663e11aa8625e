import { breathe } from '../../budget/turn.js';
import { asGatewayError, GatewayError } from '../../errors.js';
import { errorAnswer, errorBatch } from '../../mcp/error-response.js';
import { answersIn, elicitationIn, knownId } from '../../mcp/responses.js';
import type { Owner } from '../../ports/owner.js';
import type { BodyKind, UpstreamAnswer } from '../../ports/upstream.js';
import type { HeldMessage } from '../../wire/json/reader.js';
import type { FrameFields } from '../../wire/sse/frame.js';
import type { Caller } from '../caller.js';
import { headOf } from '../client/answer-head.js';
import { LateHead } from '../client/late-head.js';
import type { MessageCuts } from '../cut/message-cuts.js';
import { CutReader } from '../cut/reader.js';
import { type Exchange, noteError, noteNoAnswer } from '../exchange.js';
import { logError, reportError } from '../exchange-log.js';
import type { Addressee, PendingRequest } from '../pending-request.js';
import type { OpenedSession, Reply, ReplyHead } from '../reply.js';
import { dismiss, toClient, untouched } from '../results/to-client.js';
import { withSource } from '../under-limits.js';
import { BodyBounds } from '../upstream/body-bounds.js';
import { pump } from '../upstream/pump.js';
import { tellingOfFault } from '../upstream/server-faults.js';
import { AnswerQueue } from './answer-queue.js';
import type { Cancellations } from './calls/cancellations.js';
import { pingIn } from './channel-message.js';
import type { ChannelDeps } from './deps.js';
import { EarlyMessages } from './early-messages.js';
import { withoutStrays } from './stray-answers.js';

/** Opens a session of Wharf's own for the result of an `initialize`; it goes into the head of the answer. */
type OpenSession = (result: HeldMessage) => Promise<OpenedSession | undefined>;

interface AnswerContext {
  deps: ChannelDeps;
  caller: Caller;
  /** What the client cancels of a POST's requests: of these none needs an answer. */
  cancelled?: Cancellations | undefined;
  /** Present on `initialize`: the head then waits for the result, because it carries the session's id. */
  openSession?: OpenSession;
  /** Answers a server's `ping` before that: the client cannot, because it has no session yet. */
  answerPing?: (id: string) => Promise<void>;
}

/** Separates values that waited, whatever whitespace they had. */
const SEPARATOR = Buffer.from('\n');

/** Brings one upstream answer to the client: head, messages in order, and a clean end or a clean error. */
export class AnswerRelay {
  readonly #context: AnswerContext;
  readonly #exchange: Exchange;
  readonly #answer: UpstreamAnswer;
  readonly #kind: Exclude<BodyKind, 'none'>;
  readonly #pending: Map<string, PendingRequest>;
  readonly #reply: Reply;
  #madeReader: CutReader | undefined;
  readonly #to: Addressee;
  readonly #head: ReplyHead;
  /** The upstream does not declare these as messages: the first bytes decide, and the head waits for them. */
  #isUntyped: boolean;
  /** Set until the session is open. */
  #early: EarlyMessages | undefined;
  readonly #queue: AnswerQueue;
  #bounds: BodyBounds | undefined;
  readonly #owner: Owner;
  #hasEventIds = false;
  #forwarded = 0;
  /** Bytes of the current chunk that went to the client outside messages, which no other count includes. */
  #besides = 0;

  constructor(answer: UpstreamAnswer, kind: Exclude<BodyKind, 'none'>, context: AnswerContext) {
    const { deps } = context;
    const { exchange, messages, session, client, inquire } = context.caller;
    const earlier = deps.sessions.resumable.of(messages ? undefined : session);
    this.#context = context;
    this.#exchange = exchange;
    this.#answer = answer;
    this.#kind = kind;
    this.#pending = new Map(messages?.requests.map((request) => [request.id, request]));
    this.#to = {
      identity: exchange.identity,
      principal: exchange.principal,
      client,
      inquire,
      facts: exchange.facts,
      address: exchange.address,
      signal: exchange.signal,
      isFailure: answer.status >= 300,
      answered: (id) => this.#pending.get(knownId(this.#pending, id)) ?? earlier(id),
      onlyOpen: () => (this.#pending.size === 1 ? [...this.#pending.keys()][0] : undefined),
    };
    this.#reply = answer.whole ? new LateHead(exchange.reply) : exchange.reply;
    this.#head = { ...headOf(answer), isEarly: true };
    this.#isUntyped = kind === 'bytes';
    if (context.openSession) this.#early = new EarlyMessages();
    this.#owner = { principal: exchange.principal, server: deps.server };
    this.#queue = new AnswerQueue(deps.cut.held, this.#owner);
  }

  async run(): Promise<void> {
    const { deps, caller } = this.#context;
    if (!this.#early && !this.#isUntyped) this.#writeHead();
    this.#bounds = this.#bound();
    const take = tellingOfFault(deps, this.#answer, caller, (chunk) => this.#take(chunk));
    try {
      await pump(this.#answer.body, take, {
        server: deps.server,
        principal: this.#owner.principal,
        pace: deps.pace,
        due: () => this.#madeReader?.inMessage === true || this.#isUntyped,
        signal: this.#exchange.signal,
      });
      await this.#reader.end();
      await this.#queue.tail;
      await this.#finish();
    } catch (thrown) {
      await (this.#bounds?.isOver ? this.#finish() : this.#fail(thrown));
    } finally {
      this.#bounds?.clear();
      this.#exchange.facts.bytesOut = this.#reply.written;
    }
  }

  /** Made for the first bytes: the client's stream may be silent for hours, and a reader is 4 KB of objects. */
  get #reader(): CutReader {
    this.#madeReader ??= this.#makeReader();
    return this.#madeReader;
  }

  #makeReader(): CutReader {
    return new CutReader(
      // the server chooses the type: the limits hold for each of them
      this.#kind === 'bytes' ? 'json' : this.#kind,
      this.#context.deps.cut,
      {
        message: withoutStrays(this.#context, this.#answer, (message, cuts) => this.#onMessage(message, cuts)),
        backlog: () => this.#queue.tail,
        space: (bytes) => this.#space(bytes),
        comment: (bytes) => {
          if (this.#early) return;
          this.#besides += bytes.length;
          this.#reply.comment(bytes);
        },
      },
      { owner: this.#owner, signal: this.#exchange.signal },
    );
  }

  /** A stream may be silent for ever, unless it opens a session; what came as a whole is bounded already. */
  #bound(): BodyBounds | undefined {
    if (this.#answer.whole || !(this.#early || this.#isOne)) return undefined;
    const { server, timeouts } = this.#context.deps;
    const isBusy = () => this.#queue.tail !== undefined || this.#madeReader?.inMessage === true;
    const lacksAll = () => this.#early !== undefined || (this.#isOne && this.#forwarded === 0 && !isBusy());
    return new BodyBounds({ body: this.#answer.body, server, ms: timeouts.upstream, lacksAll, isBusy });
  }

  /** Whether the body is one JSON text, not a stream of messages. */
  get #isOne(): boolean {
    return this.#kind === 'json' || this.#kind === 'bytes';
  }

  #take(chunk: Buffer): Promise<unknown> | undefined {
    const fed = this.#reader.feed(chunk);
    // only this answer is wanted on this stream: do not read further what cannot be delivered
    const failure = this.#isOne ? this.#reader.failure : this.#reader.failedAnswer;
    if (failure && this.#pending.size === 1) throw failure;
    const settle = this.#reader.settle();
    const untaken = this.#untaken();
    if (!fed && !settle && !untaken) return this.#queue.tail;
    return Promise.all([fed, settle, untaken, this.#queue.tail]).then(() => this.#queue.tail);
  }

  /** Set while a client does not read: what it was sent is held too, even blanks and comments. */
  #untaken(): Promise<void> | undefined {
    const bytes = this.#besides;
    this.#besides = 0;
    const { pressure } = this.#reply;
    if (!pressure || bytes === 0) return pressure;
    const { held } = this.#context.deps.cut;
    const release = () => held.add(-bytes, this.#owner);
    try {
      held.add(bytes, this.#owner);
    } catch (error) {
      release();
      throw error;
    }
    return pressure.then(release);
  }

  /** Blanks between values: an NDJSON client waits for the line feed. */
  #space(bytes: Buffer): void {
    // before the head there is no body for them
    if (this.#isUntyped) return;
    if (this.#early) this.#early.space(async () => this.#reply.space(SEPARATOR));
    else if (this.#queue.tail) this.#queue.add(async () => this.#reply.space(bytes));
    else {
      this.#besides += bytes.length;
      this.#reply.space(bytes);
    }
  }

  #onMessage(message: HeldMessage, cuts: MessageCuts): void {
    if (message.frame?.id) this.#hasEventIds = true;
    if (this.#isUntyped) this.#tellType(message, cuts);
    if (message.empty && message.frame) {
      this.#sendEmpty(message.frame);
      cuts.release();
      return;
    }
    const pieces = this.#early || this.#queue.tail ? undefined : untouched(message, cuts, this.#context.deps, this.#to);
    if (!pieces) {
      this.#queue.add(
        () => this.#forward(message, cuts),
        () => dismiss(cuts),
      );
      return;
    }
    const answers = answersIn(message).map(({ id }) => id);
    const facts = message.malformed ? { broken: answers } : { answers };
    const slow = this.#reply.message(pieces, { ...facts, frame: message.frame, asks: elicitationIn(message) });
    this.#answered(answers);
    // what a slow client has not read is still held
    if (slow)
      this.#queue.add(
        () => slow.finally(() => cuts.release()),
        async () => cuts.release(),
      );
    else cuts.release();
  }

  /** Decides the type by the first message, before any of it is sent; a failed message is replaced by an error. */
  #tellType(message: HeldMessage, cuts: MessageCuts): void {
    this.#isUntyped = false;
    const looksLikeJson = /^[{[]/.test(message.slice(0, 1).toString('latin1'));
    if (looksLikeJson || cuts.failure) {
      this.#head.body = 'values';
      this.#head.headers = { ...this.#head.headers, 'content-type': 'application/json' };
    } else if (this.#answer.status < 300 && this.#pending.size > 0) {
      noteNoAnswer(this.#exchange.facts);
    }
    if (!this.#early) this.#writeHead();
  }

  /** A priming event or a `retry`: clients resume by it, so it keeps its place. */
  #sendEmpty(frame: FrameFields): void {
    const send = async () => this.#reply.event(frame);
    if (this.#early) this.#early.add({ forward: send, drop: async () => {} });
    else if (this.#queue.tail) this.#queue.add(send);
    else {
      const slow = this.#reply.event(frame);
      if (slow) this.#queue.add(() => slow);
    }
  }

  async #forward(message: HeldMessage, cuts: MessageCuts): Promise<void> {
    await breathe(this.#owner);
    try {
      const ping = this.#early && pingIn(message);
      if (ping !== undefined) {
        await dismiss(cuts);
        return void (await this.#context.answerPing?.(ping));
      }
      if (this.#early && !this.#isInitializeResult(message)) {
        this.#early.add({ forward: () => this.#forward(message, cuts), drop: () => dismiss(cuts) });
        return;
      }
      if (this.#early) {
        this.#head.session = await this.#context.openSession?.(message);
        await this.#releaseEarly();
      }
    } catch (error) {
      await dismiss(cuts);
      throw error;
    }
    // without a client the file would be kept for nothing
    if (this.#reply.gone) return dismiss(cuts);
    const outgoing = await toClient(message, cuts, this.#context.deps, this.#to);
    if (!outgoing) return;
    try {
      const { isBroken = false, answered } = outgoing;
      const { frame } = message;
      const facts = isBroken ? { broken: answered } : { answers: answered };
      await this.#reply.message(outgoing.pieces, { ...facts, frame, asks: elicitationIn(message) });
    } finally {
      await outgoing.sent();
    }
    this.#answered(outgoing.answered);
  }

  #isInitializeResult(message: HeldMessage): boolean {
    return answersIn(message).some(({ id }) => this.#pending.has(knownId(this.#pending, id)));
  }

  async #releaseEarly(): Promise<void> {
    const early = this.#early;
    this.#early = undefined;
    this.#writeHead();
    await early?.forward();
  }

  #answered(ids: readonly string[]): void {
    this.#forwarded += 1;
    const { deps, caller } = this.#context;
    const again = this.#hasEventIds ? ids.flatMap((id) => this.#to.answered(id) ?? []) : [];
    for (const id of ids) this.#pending.delete(knownId(this.#pending, id));
    deps.sessions.resumable.answered(caller.session, ids, again);
    if (this.#isOne && this.#pending.size === 0) this.#bounds?.awaitEnd();
  }

  /** Called at the end: a client asks for the rest of a stream that had ids. */
  #keepUnanswered(): void {
    const { session, messages } = this.#context.caller;
    if (!this.#hasEventIds || !session || !messages || this.#pending.size === 0) return;
    this.#context.deps.sessions.resumable.unanswered.keep(session, this.#pending.values());
  }

  #writeHead(): void {
    // a silent stream got its head before this was made
    if (this.#reply.begun) return;
    // early: tells the client at once that its answer is coming: 76 ms instead of 389 for 100 MB
    this.#reply.head(this.#head);
  }

  /** The upstream's body is complete. A stream that ends without an answer and cannot be resumed owes an error. */
  async #finish(): Promise<void> {
    if (this.#owes) await this.#context.cancelled?.askElsewhere(this.#pending.keys());
    if (this.#early) await this.#releaseEarly();
    else if (this.#isUntyped && this.#owes) throw this.#closed();
    else if (this.#isUntyped) this.#writeHead();
    if (this.#owes) await this.#answerPending(this.#closed());
    this.#keepUnanswered();
    this.#reply.end();
  }

  /** Made when it is needed: an error costs as much as all else that is done for a short answer here. */
  #closed(): GatewayError {
    return new GatewayError('upstream_closed', { server: this.#context.deps.server });
  }

  /** The open requests that the client has not cancelled. */
  get #awaited(): string[] {
    const { cancelled } = this.#context;
    return [...this.#pending.keys()].filter((id) => !cancelled?.has(id));
  }

  get #owes(): boolean {
    if (this.#answer.status >= 300 || this.#awaited.length === 0) return false;
    return this.#answer.kind === 'sse' ? !this.#hasEventIds : this.#forwarded === 0;
  }

  async #fail(thrown: unknown): Promise<void> {
    const { deps } = this.#context;
    const exchange = this.#exchange;
    this.#answer.body.destroy();
    this.#madeReader?.abandon();
    await this.#queue.tail?.catch(() => {});
    await this.#early?.drop();
    this.#keepUnanswered();
    if (this.#reply.gone || exchange.signal.aborted) return this.#reply.abort();
    const error = asGatewayError(withSource(thrown, deps.limits));
    if (!this.#reply.begun) {
      // the status line can report it, and its writer counts it, and logs it but for one that reads as a client's mistake
      if (error.httpStatus < 500) logError(deps, error, 'an answer broke off', { exchange });
      throw error;
    }
    noteError(exchange.facts, error);
    reportError(deps, error, 'an answer broke off', { exchange });
    const isResumable = error.code === 'upstream_closed' && this.#hasEventIds;
    if (isResumable || this.#pending.size === 0) return this.#reply.abort();
    await this.#context.cancelled?.askElsewhere(this.#pending.keys());
    await this.#answerPending(error);
    this.#reply.end();
  }

  async #answerPending(error: GatewayError): Promise<void> {
    const ids = this.#awaited;
    for (const _ of ids) noteError(this.#exchange.facts, error);
    // a JSON body is one text: to a batch, a list
    if (this.#isOne && this.#forwarded === 0 && this.#context.caller.messages?.isBatch)
      await this.#reply.message([errorBatch(ids, error)], { answers: ids });
    else for (const id of ids) await this.#reply.message([errorAnswer(error, id)], { answers: [id] });
    this.#pending.clear();
  }
}
