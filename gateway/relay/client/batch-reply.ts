import type { HeldTogether } from '../../budget/held.js';
import type { GatewayError } from '../../errors.js';
import type { Piece } from '../../json/written.js';
import { errorAnswer } from '../../mcp/error-response.js';
import { PassedReply } from '../passed-reply.js';
import type { MessageFacts, Reply, ReplyHead } from '../reply.js';

/** An answer of Wharf's own to one request of a batch. */
export interface OwnAnswer {
  /** The request's id, as JSON text. */
  id: string;
  text: Buffer;
}

interface BatchReplyOptions {
  own: readonly OwnAnswer[];
  /** What counts their bytes until they are sent. */
  held: HeldTogether;
  /** Ids, as JSON text, of the requests that are for the server. */
  others: readonly string[];
  /** The client takes a body of JSON. */
  takesJson: boolean;
  /** Made where a server's success has no answers in it. */
  noAnswer: () => GatewayError;
}

const EVENTS = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache', 'x-accel-buffering': 'no' };
const JSON_TEXT = { 'content-type': 'application/json' };

const BLANKS: readonly (number | undefined)[] = [0x20, 0x09, 0x0a, 0x0d];
const OPEN_BATCH = 0x5b;
const CLOSE_BATCH = 0x5d;

/**
 * The answer to a batch of which Wharf has answered some requests, and the server answers the others: first Wharf's own
 * answers, then the server's, in one stream of events or one array, as the server has chosen. A server that refuses the
 * whole POST by its HTTP status refuses all of it.
 */
export class BatchReply extends PassedReply {
  readonly #options: BatchReplyOptions;
  /** Its body is one array, written item by item. */
  #isArray = false;
  /** The server's body holds no messages. */
  #lacksOthers = false;

  constructor(reply: Reply, options: BatchReplyOptions) {
    super(reply);
    this.#options = options;
  }

  override get takesBodies(): boolean {
    return false;
  }

  override head(head: ReplyHead): void {
    if (head.status >= 300) {
      this.#options.held.release();
      this.reply.head(head);
      return;
    }
    this.#lacksOthers = head.body === 'other';
    this.#isArray = head.body !== 'events' && this.reply.takesBodies && (this.#options.takesJson || !this.#lacksOthers);
    this.reply.head(this.#joint(head));
    void this.#tellOwn();
  }

  /** The head of everything: the server's, but for a kind of body in which only its own answers have a place. */
  #joint(head: ReplyHead): ReplyHead {
    const { session } = head;
    if (this.#isArray) return { status: 200, body: 'batch', headers: { ...head.headers, ...JSON_TEXT }, session };
    if (this.#lacksOthers) return { status: 200, body: 'events', headers: EVENTS, session };
    return head;
  }

  /** A client that does not read is given up by its reply; until then they are held. */
  async #tellOwn(): Promise<void> {
    const { own, held } = this.#options;
    const writing = own.map(({ id, text }) => this.reply.message([text], { answers: [id] }));
    await Promise.all(writing).catch(() => this.reply.abort());
    held.release();
  }

  override message(pieces: readonly Piece[], facts?: MessageFacts): Promise<void> | undefined {
    if (this.#lacksOthers) return undefined;
    const written = this.#isArray ? itemsOf(pieces) : pieces;
    return written.length === 0 ? undefined : this.reply.message(written, facts);
  }

  override space(bytes: Buffer): Promise<void> | undefined {
    return this.#isArray || this.#lacksOthers ? undefined : this.reply.space(bytes);
  }

  override all(head: ReplyHead, body?: Buffer, answers: readonly string[] = []): void {
    if (head.status >= 300) {
      this.#options.held.release();
      this.reply.all(head, body, answers);
      return;
    }
    this.#whole(head, body && body.length > 0 ? [body] : [], { answers });
  }

  override only(head: ReplyHead, pieces: readonly Buffer[], facts: MessageFacts): void {
    if (head.status >= 300) this.all(head, Buffer.concat(pieces), facts.answers);
    else this.#whole(head, pieces, facts);
  }

  #whole(head: ReplyHead, pieces: readonly Buffer[], facts: MessageFacts): void {
    this.head(head);
    if (pieces.length > 0) this.#last(this.message(pieces, facts));
    this.end();
  }

  override end(): void {
    if (this.#lacksOthers && this.#options.others.length > 0) this.#tellError(this.#options.noAnswer());
    this.reply.end();
  }

  /** Wharf's own answers, and an error for each of the others: the server has not been sent them, or has not answered. */
  fail(error: GatewayError): void {
    this.head({ status: 200, body: 'other' });
    this.#tellError(error);
    this.reply.end();
  }

  #tellError(error: GatewayError): void {
    for (const id of this.#options.others) this.#last(this.reply.message([errorAnswer(error, id)], { answers: [id] }));
  }

  /** The end follows at once: a client that does not take it is given up by its reply. */
  #last(writing: Promise<void> | undefined): void {
    writing?.catch(() => this.reply.abort());
  }
}

/** The items of an array, as one text without its brackets; a message that is not one stays. */
function itemsOf(pieces: readonly Piece[]): readonly Piece[] {
  const [first] = pieces;
  const last = pieces.at(-1);
  if (!Buffer.isBuffer(first) || !Buffer.isBuffer(last)) return pieces;
  const start = inkFrom(first, 0, 1);
  if (first[start] !== OPEN_BATCH) return pieces;
  const end = inkFrom(last, last.length - 1, -1);
  if (last[end] !== CLOSE_BATCH) return pieces;
  if (pieces.length > 1) return [first.subarray(start + 1), ...pieces.slice(1, -1), last.subarray(0, end)];
  const items = first.subarray(start + 1, end);
  return inkFrom(items, 0, 1) < items.length ? [items] : [];
}

/** The first place that is not blank. */
function inkFrom(bytes: Buffer, from: number, step: 1 | -1): number {
  let at = from;
  while (at >= 0 && at < bytes.length && BLANKS.includes(bytes[at])) at += step;
  return at;
}
