import { GatewayError } from '../../errors.js';
import type { Piece } from '../../json/written.js';
import { errorAnswer } from '../../mcp/error-response.js';
import type { JsonObject } from '../../ports/json.js';
import { PassedReply } from '../passed-reply.js';
import type { MessageFacts, Reply, ReplyHead } from '../reply.js';

const STREAM: ReplyHead = {
  status: 200,
  body: 'events',
  headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-cache', 'x-accel-buffering': 'no' },
  isEarly: true,
};

/** Takes what a server says before it answers a call. */
export interface Taker {
  /**
   * Whether a message is Wharf's to answer: then the client does not get it. A promise, which never rejects: it is, and
   * the server is read on when it resolves.
   * @param isResumable the client can come back to what follows the message
   * @param asks as in `MessageFacts`
   */
  takes(pieces: readonly Piece[], isResumable: boolean, asks: string | undefined): boolean | Promise<void>;
  /** Nothing more comes on the call's stream. */
  over(): void;
}

/**
 * The answer to a call on which its client may be asked something first, or a session's GET stream. As long as nothing is
 * asked it is the client's own reply. After that it is a stream that has begun: whatever answers the call then goes on
 * it as a message.
 */
export class AskedReply extends PassedReply {
  /** Id of the call, as JSON text. */
  readonly #id: string | undefined;
  readonly #server: string;
  #hasAsked = false;
  /** What the answer behind the questions has begun with. */
  #head: ReplyHead | undefined;
  #isAnswered = false;
  /** What answers the call instead of the server, which did not get what it asked for. */
  instead: Buffer | undefined;
  /** Set where the server may ask for files by itself. */
  taker: Taker | undefined;

  /** @param id of the call, as JSON text; undefined for a GET stream */
  constructor(reply: Reply, id: string | undefined, server: string) {
    super(reply);
    this.#id = id;
    this.#server = server;
  }

  /** True once something was said to the client before the answer. */
  get hasAsked(): boolean {
    return this.#hasAsked;
  }

  override get begun(): boolean {
    return this.#hasAsked ? this.#head !== undefined : this.reply.begun;
  }

  override get takesBodies(): boolean {
    return !this.#hasAsked && this.reply.takesBodies;
  }

  /** Says something to the client before its call is answered. */
  say(message: JsonObject): Promise<void> | undefined {
    if (this.gone) return undefined;
    // on a stream that the server has begun, there is no other head to give
    if (!this.reply.begun) {
      this.reply.head(STREAM);
      this.#hasAsked = true;
    }
    return this.reply.message([Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...message }))], { isOwn: true });
  }

  override head(head: ReplyHead): void {
    this.#head = head;
    if (!this.#hasAsked) this.reply.head(head);
  }

  override message(pieces: readonly Piece[], facts: MessageFacts = {}): Promise<void> | undefined {
    if (this.#hasAsked && this.#head?.body === 'other') return undefined;
    const taken = this.taker?.takes(pieces, facts.frame?.id !== undefined, facts.asks);
    if (taken) {
      const told = facts.frame?.id ? this.reply.event(facts.frame) : undefined;
      return taken === true ? told : Promise.all([taken, told]).then(() => {});
    }
    if (this.#id !== undefined && facts.answers?.includes(this.#id)) {
      this.#isAnswered = true;
      if (this.instead) return this.reply.message([this.instead], facts);
    }
    return this.reply.message(pieces, facts);
  }

  override space(bytes: Buffer): Promise<void> | undefined {
    // blanks between values have no place in a stream of events
    return this.#hasAsked ? undefined : this.reply.space(bytes);
  }

  override all(head: ReplyHead, body?: Buffer, answers: readonly string[] = []): void {
    if (!this.#hasAsked) {
      this.reply.all(head, body, answers);
      return;
    }
    this.head(head);
    if (body) this.#last(this.message([body], { answers }));
    this.end();
  }

  override only(head: ReplyHead, pieces: readonly Buffer[], facts: MessageFacts): void {
    if (this.#hasAsked) this.all(head, Buffer.concat(pieces), facts.answers);
    else this.reply.only(head, this.instead ? [this.instead] : pieces, facts);
  }

  /** Whether the client can be asked something now. */
  get canAsk(): boolean {
    return !this.gone && (this.#head?.body === 'events' || (!this.begun && this.#id !== undefined));
  }

  override end(): void {
    this.taker?.over();
    if (this.#id !== undefined && this.#hasAsked && !this.#isAnswered && !this.gone) this.fail(this.#unanswered());
    else this.reply.end();
  }

  /** The call is answered with an error, on the stream that has begun. */
  fail(error: GatewayError): void {
    this.#isAnswered = true;
    this.taker?.over();
    this.#last(
      this.reply.message([errorAnswer(error, this.#id)], { answers: this.#id === undefined ? [] : [this.#id] }),
    );
    this.reply.end();
  }

  /** The client no longer wants an answer. */
  dismiss(): void {
    this.taker?.over();
    this.reply.end();
  }

  override abort(): void {
    this.taker?.over();
    this.reply.abort();
  }

  /** The end follows at once: a client that does not take it is given up by its reply. */
  #last(writing: Promise<void> | undefined): void {
    writing?.catch(() => this.reply.abort());
  }

  /** A status, and a body that is not a message, have no place in a stream that has begun. */
  #unanswered(): GatewayError {
    const status = this.#head?.status ?? 200;
    if (status >= 300) return new GatewayError('upstream_refused', { server: this.#server, status });
    return new GatewayError('upstream_closed', { server: this.#server });
  }
}
