import type { GatewayError } from '../../errors.js';
import type { Piece } from '../../json/written.js';
import type { Era } from '../../mcp/era.js';
import { errorAnswer } from '../../mcp/error-response.js';
import type { ClientFacts } from '../../ports/client.js';
import { parseJson } from '../../wire/json/parse.js';
import type { Asked } from '../caller.js';
import { HEAD_WAIT_MS, MAX_WHOLE_BYTES } from '../client/late-head.js';
import { type Exchange, noteError } from '../exchange.js';
import { tellError } from '../exchange-log.js';
import type { PendingRequest } from '../pending-request.js';
import type { Reply, ReplyHead } from '../reply.js';
import type { Session } from '../session.js';
import type { CallFiles } from './calls/call-files.js';
import type { ChannelDeps } from './deps.js';

/** A client on the Python SDK gives up a stream at an event longer than this, and reads a JSON body of any length. */
const MOST_EVENT_BYTES = 1024 * 1024;

/**
 * A request that its client has cancelled SHOULD NOT be answered. Some servers do, to confirm that they stopped, and
 * one answer may be on its way: the stream is kept this long.
 */
const CANCELLED_WAIT_MS = 5000;

const MAX_ERROR_BYTES = 64 * 1024;

const EVENTS = {
  body: 'events',
  headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-cache', 'x-accel-buffering': 'no' },
} as const;
const VALUES = { body: 'values', headers: { 'content-type': 'application/json' } } as const;
/** The answers to a batch are a batch, for a client that takes no events. */
const BATCH = { ...VALUES, body: 'batch' } as const;

type StreamDeps = Pick<ChannelDeps, 'server' | 'log' | 'fewLines' | 'metrics'>;

/** The answer to one POST, composed from the messages of a shared channel. */
export class PostStream {
  readonly exchange: Exchange;
  /** Unanswered requests, by their channel ids. */
  readonly pending: Map<string, PendingRequest>;
  /** Resolves when every request is answered or the client has gone; rejects on a failure before the head was sent. */
  readonly done: Promise<void>;
  /** What exists only for its requests. It is removed before the last answer is sent, so that the client finds it gone. */
  readonly files: CallFiles | undefined;

  #asked: Asked;
  readonly #cancelled = new Set<string>();
  #cancelTimer: NodeJS.Timeout | undefined;
  readonly #reply: Reply;
  readonly #head: ReplyHead;
  /** The client takes its only answer as a plain JSON body, too. */
  readonly #takesBody: boolean;
  /** Its status is that of the head, whenever it is written. */
  readonly #isSettled: boolean;
  readonly #statusOfError: Era['statusOfError'];
  readonly #deps: StreamDeps;
  #headTimer: NodeJS.Timeout | undefined;
  #resolve: () => void = () => {};
  #reject: (error: GatewayError) => void = () => {};

  /**
   * @param head `soon`, or `later` when the first message affects it (a session id, a status)
   */
  constructor(
    asked: Asked,
    pending: ReadonlyMap<string, PendingRequest>,
    { head, files, deps }: { head: 'soon' | 'later'; files?: CallFiles | undefined; deps: StreamDeps },
  ) {
    this.#deps = deps;
    this.files = files;
    const { exchange, messages } = asked;
    this.#asked = asked;
    this.exchange = exchange;
    this.pending = new Map(pending);
    this.#statusOfError = messages.era.statusOfError;
    this.#reply = exchange.reply;
    const accept = String(exchange.headers.accept ?? '');
    const takesEvents = accept.includes('text/event-stream');
    this.#takesBody = takesEvents && !messages.isBatch && /json|\*\/\*/.test(accept);
    this.#head = { status: 200, ...(takesEvents ? EVENTS : messages.isBatch ? BATCH : VALUES) };
    this.#isSettled = takesEvents && head === 'soon' && !this.gone;
    this.done = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    // its awaiter gets the failure; while the message is being sent, the promise has no awaiter
    this.done.catch(() => {});
    this.#reply.onClose(() => this.#close());
    // if the client left while its call was prepared, there is no close event to come
    if (this.gone) this.#close();
    else if (this.#isSettled || this.#statusOfError.size > 0) {
      // a server's first message may decide the status of its answer, and its type
      this.#headTimer = setTimeout(() => this.#writeHead(true), HEAD_WAIT_MS);
    }
  }

  /** Whose it is. */
  get caller(): Asked {
    return this.#asked;
  }

  /** True when the client has gone. */
  get gone(): boolean {
    return this.#reply.gone;
  }

  /** True once the status of its answer can no longer be changed. */
  get begun(): boolean {
    return this.#isSettled || this.#reply.begun;
  }

  /** True when the client has cancelled every open request. */
  get isCancelled(): boolean {
    return this.pending.size > 0 && [...this.pending.keys()].every((id) => this.#cancelled.has(id));
  }

  /** Channel ids of the open requests that the client has not cancelled. */
  get awaited(): string[] {
    return [...this.pending.keys()].filter((id) => !this.#cancelled.has(id));
  }

  /** True when it can carry more than answers: a plain JSON body cannot. */
  get takesMessages(): boolean {
    return this.#head.body === 'events' && !this.gone;
  }

  /** As in `Reply`. */
  get output(): object | undefined {
    return this.#reply.output;
  }

  /** The client no longer wants this answer; once that is true of all of them the stream ends. */
  cancel(id: string): void {
    this.#cancelled.add(id);
    this.#endIfCancelled();
  }

  /** Its `initialize` has opened a session: what is known of the client is what the session says from now on. */
  opened(session: Session, client: ClientFacts): void {
    this.#head.session = session;
    this.#asked = { ...this.#asked, session, client };
  }

  /**
   * Sends a message that answers `answered` of the requests, possibly none; a plain JSON answer contains only answers.
   * @param asks as in `MessageFacts`
   * @returns set until it is sent, where that takes longer
   */
  send(pieces: readonly Piece[], answered: readonly string[], asks?: string): Promise<void> | undefined {
    // counted as answered now: if the channel broke while a slow client reads, it would be answered twice
    const answers = answered.map((id) => this.#take(id));
    const released = this.files?.over(answered);
    return released ? released.then(() => this.#send(pieces, answers, asks)) : this.#send(pieces, answers, asks);
  }

  /**
   * The server ends a request whose answer has begun. Over HTTP the end of the stream says so, and on standard output the
   * server's own message.
   */
  over(pieces: readonly Piece[], id: string): Promise<void> | undefined {
    if (this.output !== undefined) return this.send(pieces, [id]);
    this.#take(id);
    this.#sent();
    return undefined;
  }

  #send(pieces: readonly Piece[], answers: readonly string[], asks: string | undefined): Promise<void> | undefined {
    const status = answers.length > 0 && !this.begun ? statusOf(pieces, this.#statusOfError) : 200;
    const isDropped = this.#head.body !== 'events' && answers.length === 0;
    if (status !== 200 && !this.gone) this.#refuse(status, pieces, answers);
    else if (answers.length > 0 && this.#isWhole(pieces)) this.#sendWhole(pieces, answers);
    else if (!isDropped) {
      if (this.#isBody(pieces, answers)) Object.assign(this.#head, VALUES);
      this.#writeHead();
      const slow = this.#reply.message(pieces, { answers, asks });
      if (slow) return slow.then(() => this.#sent());
    }
    this.#sent();
    return undefined;
  }

  #sent(): void {
    if (this.pending.size === 0) this.#end();
    else this.#endIfCancelled();
  }

  /** True when a long answer is all that was ever said; what is made while it is written is long. */
  #isBody(pieces: readonly Piece[], answers: readonly string[]): boolean {
    if (!this.#takesBody || answers.length === 0 || this.pending.size > 0 || this.#reply.begun) return false;
    return (
      pieces.reduce((sum, piece) => sum + (Buffer.isBuffer(piece) ? piece.length : Infinity), 0) > MOST_EVENT_BYTES
    );
  }

  /** True when an answer is all that was ever said. */
  #isWhole(pieces: readonly Piece[]): pieces is readonly Buffer[] {
    if (this.pending.size > 0 || this.#reply.begun || this.gone || !pieces.every(Buffer.isBuffer)) return false;
    return pieces.reduce((sum, { length }) => sum + length, 0) <= MAX_WHOLE_BYTES;
  }

  /** Writes head, message and end at once: a short call costs a sixth less than with a write for each. */
  #sendWhole(pieces: readonly Buffer[], answers: readonly string[]): void {
    clearTimeout(this.#headTimer);
    this.#reply.only(this.#head, pieces, { answers });
  }

  /** A request was answered after its client had gone. */
  missed(id: string): Promise<void> | undefined {
    this.pending.delete(id);
    return this.files?.over([id]);
  }

  /** Gives every open request that is not cancelled this error, as the answer's status if that is still possible. */
  async fail(error: GatewayError, originalId: (id: string) => string): Promise<void> {
    const { facts } = this.exchange;
    if (this.isCancelled) return this.#endUnanswered();
    if (!this.begun && !this.gone) {
      clearTimeout(this.#headTimer);
      // the awaiter logs and counts it
      noteError(facts, error);
      this.#reject(error);
      return;
    }
    if (this.gone) noteError(facts, error);
    else tellError(this.#deps, error, this.exchange);
    for (const id of this.awaited) await this.send([errorAnswer(error, originalId(id))], [id]);
    if (this.isCancelled) this.#endUnanswered();
  }

  /** What the client calls a request that is answered now; the channel may call it otherwise. */
  #take(id: string): string {
    const request = this.pending.get(id);
    this.pending.delete(id);
    return request?.id ?? id;
  }

  /** @param isEarly no message follows at once */
  #writeHead(isEarly = false): void {
    clearTimeout(this.#headTimer);
    if (!this.#reply.begun && !this.gone) this.#reply.head({ ...this.#head, isEarly });
  }

  /** An error with its own status is not a stream: clients read its body as JSON. */
  #refuse(status: number, pieces: readonly Piece[], answers: readonly string[]): void {
    clearTimeout(this.#headTimer);
    const body = Buffer.concat(pieces as readonly Buffer[]);
    this.#reply.all({ status, ...VALUES }, body, answers);
  }

  #endIfCancelled(): void {
    if (!this.isCancelled || this.#cancelTimer) return;
    this.#cancelTimer = setTimeout(() => {
      // an answer that arrived meanwhile is sent completely, however slow its client is
      if (this.isCancelled) this.#endUnanswered();
    }, CANCELLED_WAIT_MS).unref();
  }

  /** A plain JSON answer would have to contain one; unwanted requests get none. */
  #endUnanswered(): void {
    if (!this.#reply.begun && !this.gone) this.#reply.all({ status: 202, body: 'other' });
    this.#end();
  }

  #end(): void {
    this.#reply.end();
    this.#close();
  }

  #close(): void {
    clearTimeout(this.#headTimer);
    clearTimeout(this.#cancelTimer);
    this.exchange.facts.bytesOut = this.#reply.written;
    this.#reply.end();
    this.#resolve();
  }
}

function statusOf(pieces: readonly Piece[], statusOfError: Era['statusOfError']): number {
  if (statusOfError.size === 0 || !pieces.every(Buffer.isBuffer)) return 200;
  // an error is short, and only an error has its own status
  if (pieces.reduce((sum, { length }) => sum + length, 0) > MAX_ERROR_BYTES) return 200;
  const bytes = Buffer.concat(pieces);
  if (!bytes.includes('"error"')) return 200;
  const message: unknown = parseJson(bytes.toString('utf8'));
  const code = (message as { error?: { code?: unknown } }).error?.code;
  return statusOfError.get(Number(code)) ?? 200;
}
