import { breathe } from '../../budget/turn.js';
import { asGatewayError, GatewayError } from '../../errors.js';
import { errorAnswer } from '../../mcp/error-response.js';
import { toClientHeaders } from '../../mcp/headers.js';
import { answersIn, knownId } from '../../mcp/responses.js';
import type { Owner } from '../../ports/owner.js';
import type { BodyKind, UpstreamAnswer } from '../../ports/upstream.js';
import type { HeldMessage } from '../../wire/json/reader.js';
import type { FrameFields } from '../../wire/sse/frame.js';
import { Outlet } from '../client/outlet.js';
import type { MessageCuts } from '../cut/message-cuts.js';
import { CutReader } from '../cut/reader.js';
import { type Exchange, noteError } from '../exchange.js';
import type { Addressee, PendingRequest } from '../pending-request.js';
import { dismiss, toClient, untouched } from '../results/to-client.js';
import { pump } from '../upstream/pump.js';
import { pingIn } from './channel-message.js';
import type { ChannelDeps } from './deps.js';
import { EarlyMessages } from './early-messages.js';

/** What an `initialize` leads to: a session of Wharf's own, whose id goes into the head of the answer. */
export type OpenSession = (result: HeldMessage) => Promise<string | undefined>;

export interface AnswerContext {
  deps: ChannelDeps;
  exchange: Exchange;
  to: Omit<Addressee, 'answered'>;
  requests: readonly PendingRequest[];
  /** Present on `initialize`: then the head waits for the result, since it carries the session's id. */
  openSession?: OpenSession;
  /** Answers a `ping` of the server's that comes before it: the client cannot, since it has no session yet. */
  answerPing?: (id: string) => Promise<void>;
}

/** Stands between values that waited, whatever stood there. */
const SEPARATOR = Buffer.from('\n');

/** Brings one upstream answer to the client: head, messages in their order, and a clean end or a clean error. */
export class AnswerRelay {
  readonly #context: AnswerContext;
  readonly #answer: UpstreamAnswer;
  readonly #pending: Map<string, PendingRequest>;
  readonly #outlet: Outlet;
  readonly #reader: CutReader;
  readonly #to: Addressee;
  readonly #headers: Record<string, string | string[]>;
  /** The upstream does not say that these are messages: the first bytes decide, and the head waits for them. */
  #isUntyped: boolean;
  /** Set until the session is open. */
  #early: EarlyMessages | undefined;
  #tail: Promise<void> | undefined;
  readonly #owner: Owner;
  #hasEventIds = false;
  #forwarded = 0;
  /** Bytes of the chunk at hand that have gone to the client and are of no message, so that nobody counts them. */
  #besides = 0;

  constructor(answer: UpstreamAnswer, kind: Exclude<BodyKind, 'none'>, context: AnswerContext) {
    const { deps, exchange } = context;
    this.#context = context;
    this.#answer = answer;
    this.#pending = new Map(context.requests.map((request) => [request.id, request]));
    this.#to = {
      ...context.to,
      isFailure: answer.status >= 300,
      answered: (id) => this.#pending.get(knownId(this.#pending, id)),
      onlyOpen: () => (this.#pending.size === 1 ? [...this.#pending.keys()][0] : undefined),
    };
    this.#headers = toClientHeaders(answer);
    this.#outlet = new Outlet(exchange.response, kind === 'sse' ? 'sse' : 'json', deps.timeouts.idle);
    this.#isUntyped = kind === 'bytes';
    if (context.openSession) this.#early = new EarlyMessages();
    this.#owner = { principal: exchange.principal, server: deps.server };
    this.#reader = new CutReader(
      // a message is cut and counted whatever its type says: no type is a way round the limits
      kind === 'bytes' ? 'json' : kind,
      deps.cut,
      this.#owner,
      {
        message: (message, cuts) => this.#onMessage(message, cuts),
        space: (bytes) => this.#space(bytes),
        comment: (bytes) => {
          if (this.#early) return;
          this.#besides += bytes.length;
          this.#outlet.comment(bytes);
        },
      },
      exchange.signal,
    );
  }

  async run(): Promise<void> {
    const { deps, exchange } = this.#context;
    if (!this.#early && !this.#isUntyped) this.#writeHead();
    const timer = this.#early && this.#limitOpening();
    try {
      await pump(this.#answer.body, (chunk) => this.#take(chunk), {
        server: deps.server,
        pace: deps.pace,
        due: () => this.#reader.inMessage || this.#isUntyped,
        signal: exchange.signal,
      });
      await this.#reader.end();
      await this.#tail;
      await this.#finish();
    } catch (thrown) {
      await this.#fail(thrown);
    } finally {
      clearTimeout(timer);
      exchange.facts.bytesOut = this.#outlet.bytes;
    }
  }

  /** A stream may talk for ever without the one answer that its client waits for. */
  #limitOpening(): NodeJS.Timeout {
    const { server, timeouts } = this.#context.deps;
    const facts = { server, limit: 'timeouts.upstream', allowed: timeouts.upstream };
    return setTimeout(() => {
      if (this.#early) this.#answer.body.destroy(new GatewayError('upstream_timeout', facts));
    }, timeouts.upstream).unref();
  }

  #take(chunk: Buffer): Promise<unknown> | undefined {
    const fed = this.#reader.feed(chunk);
    // nobody waits for anything else on this stream: no need to read on what cannot be delivered
    const isOne = this.#answer.kind === 'json' || this.#answer.kind === 'bytes';
    const failure = isOne ? this.#reader.failure : this.#reader.failedAnswer;
    if (failure && this.#pending.size === 1) throw failure;
    const settle = this.#reader.settle();
    const untaken = this.#untaken();
    if (!fed && !settle && !untaken) return this.#tail;
    return Promise.all([fed, settle, untaken, this.#tail]).then(() => this.#tail);
  }

  /** Set while a client does not take what it was sent: that is held as well, be it only blanks and comments. */
  #untaken(): Promise<void> | undefined {
    const bytes = this.#besides;
    this.#besides = 0;
    const { pressure } = this.#outlet;
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
    // without a head there is nothing yet that they could stand in
    if (this.#isUntyped) return;
    if (this.#early) this.#early.space(async () => this.#outlet.space(SEPARATOR));
    else if (this.#tail) this.#queue(async () => this.#outlet.space(bytes));
    else {
      this.#besides += bytes.length;
      this.#outlet.space(bytes);
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
    const pieces = this.#early || this.#tail ? undefined : untouched(message, cuts, this.#context.deps, this.#to);
    if (!pieces) {
      this.#queue(
        () => this.#forward(message, cuts),
        () => dismiss(cuts),
      );
      return;
    }
    const slow = this.#outlet.send(pieces, message.frame);
    this.#answered(answersIn(message).map(({ id }) => id));
    // what a slow client has not taken yet is still held
    if (slow) this.#queue(() => slow.finally(() => cuts.release()));
    else cuts.release();
  }

  /** By the first message, before any of it goes out; in the place of one that failed comes an error. */
  #tellType(message: HeldMessage, cuts: MessageCuts): void {
    this.#isUntyped = false;
    const looksLikeJson = /^[{[]/.test(message.slice(0, 1).toString('latin1'));
    if (looksLikeJson || cuts.failure) this.#headers['content-type'] = 'application/json';
    if (!this.#early) this.#writeHead();
  }

  /** A priming event or a `retry`: clients resume by it, so it keeps its place. */
  #sendEmpty(frame: FrameFields): void {
    const send = async () => this.#outlet.sendEmpty(frame);
    if (this.#early) this.#early.add({ forward: send, drop: async () => {} });
    else if (this.#tail) this.#queue(send);
    else {
      const slow = this.#outlet.sendEmpty(frame);
      if (slow) this.#queue(() => slow);
    }
  }

  /** @param drop runs instead of the task when one before it has failed */
  #queue(task: () => Promise<void>, drop: () => Promise<void> = async () => {}): void {
    const giveUp = async (error: unknown) => {
      await drop();
      throw error;
    };
    const run = this.#tail ? this.#tail.then(task, giveUp) : task();
    const tail: Promise<void> = run.then(() => {
      if (this.#tail === tail) this.#tail = undefined;
    });
    // the failure is seen by whoever waits for the tail
    tail.catch(() => {});
    this.#tail = tail;
  }

  async #forward(message: HeldMessage, cuts: MessageCuts): Promise<void> {
    await breathe();
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
      if (this.#early) await this.#openSession(message);
    } catch (error) {
      await dismiss(cuts);
      throw error;
    }
    // a file without a client to tell of it would be kept for nobody
    if (this.#outlet.gone) return dismiss(cuts);
    const outgoing = await toClient(message, cuts, this.#context.deps, this.#to);
    if (!outgoing) return;
    try {
      await this.#outlet.send(outgoing.pieces, message.frame);
    } finally {
      await outgoing.sent();
    }
    this.#answered(outgoing.answered);
  }

  #isInitializeResult(message: HeldMessage): boolean {
    return answersIn(message).some(({ id }) => this.#pending.has(knownId(this.#pending, id)));
  }

  async #openSession(message: HeldMessage): Promise<void> {
    const id = await this.#context.openSession?.(message);
    if (id !== undefined) this.#headers['mcp-session-id'] = id;
    await this.#releaseEarly();
  }

  async #releaseEarly(): Promise<void> {
    const early = this.#early?.take() ?? [];
    this.#early = undefined;
    this.#writeHead();
    for (const { forward } of early) await forward();
  }

  #answered(ids: readonly string[]): void {
    this.#forwarded += 1;
    for (const id of ids) this.#pending.delete(knownId(this.#pending, id));
  }

  #writeHead(): void {
    const { response } = this.#context.exchange;
    response.writeHead(this.#answer.status, this.#headers);
    // the client learns at once that its answer is coming: 76 ms instead of 389 for 100 MB
    response.flushHeaders();
  }

  /** The upstream's body is complete. A stream that ends without an answer and cannot be resumed owes an error. */
  async #finish(): Promise<void> {
    const closed = new GatewayError('upstream_closed', { server: this.#context.deps.server });
    if (this.#early) await this.#releaseEarly();
    else if (this.#isUntyped && this.#owes) throw closed;
    else if (this.#isUntyped) this.#writeHead();
    if (this.#owes) await this.#answerPending(closed);
    this.#outlet.end();
  }

  get #owes(): boolean {
    if (this.#answer.status >= 300 || this.#pending.size === 0) return false;
    return this.#answer.kind === 'sse' ? !this.#hasEventIds : this.#forwarded === 0;
  }

  async #fail(thrown: unknown): Promise<void> {
    const { exchange, deps } = this.#context;
    this.#answer.body.destroy();
    this.#reader.abandon();
    await this.#tail?.catch(() => {});
    for (const { drop } of this.#early?.take() ?? []) await drop();
    if (this.#outlet.gone || exchange.signal.aborted) return this.#outlet.abort();
    const error = asGatewayError(thrown);
    noteError(exchange.facts, error);
    deps.log.warn({ code: error.code, facts: error.facts, err: error.cause ?? thrown }, 'an answer broke off');
    deps.metrics.count('wharf_errors_total', { code: error.code });
    // Before any head is out, the status line can say it.
    if (!exchange.response.headersSent) throw error;
    const isResumable = error.code === 'upstream_closed' && this.#hasEventIds;
    if (isResumable || this.#pending.size === 0) return this.#outlet.abort();
    await this.#answerPending(error);
    this.#outlet.end();
  }

  async #answerPending(error: GatewayError): Promise<void> {
    for (const id of this.#pending.keys()) {
      noteError(this.#context.exchange.facts, error);
      await this.#outlet.send([errorAnswer(error, id)], undefined);
    }
    this.#pending.clear();
  }
}
