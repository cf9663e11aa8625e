import type { GatewayError } from '../../errors.js';
import { errorAnswer } from '../../mcp/error-response.js';
import type { ClientMessages } from '../../mcp/request.js';
import { Outlet } from '../client/outlet.js';
import type { Piece } from '../cut/splice.js';
import { type Exchange, noteError } from '../exchange.js';
import type { PendingRequest } from '../pending-request.js';

/** A server's first words decide the status of a stateless answer; a stream that stays silent longer gets its head. */
const HEAD_WAIT_MS = 1000;

/** 2026-07-28: these codes come with a status of their own. */
const STATUS_OF_CODE: Readonly<Record<string, number>> = { '-32601': 404, '-32020': 400, '-32021': 400, '-32022': 400 };

/**
 * A request that its client has cancelled SHOULD NOT be answered. Some servers do, to say that they stopped, and one answer
 * may be on its way: for so long the stream is kept.
 */
const CANCELLED_WAIT_MS = 5000;

const MAX_ERROR_BYTES = 64 * 1024;

/** The answer to one POST, put together from what a shared channel says. */
export class PostStream {
  readonly exchange: Exchange;
  readonly messages: ClientMessages;
  /** Requests not answered yet, by the id they have on the channel. */
  readonly pending: Map<string, PendingRequest>;
  /** Resolves when every request is answered or the client has gone; rejects when it failed before any head was out. */
  readonly done: Promise<void>;
  /** Removes what existed for the requests only: done before the last answer is out, so that the client finds it gone. */
  release: () => Promise<void> = async () => {};

  readonly #cancelled = new Set<string>();
  #cancelTimer: NodeJS.Timeout | undefined;
  readonly #outlet: Outlet;
  readonly #format: 'sse' | 'json';
  readonly #headers: Record<string, string>;
  readonly #isStateless: boolean;
  #headTimer: NodeJS.Timeout | undefined;
  #resolve: () => void = () => {};
  #reject: (error: GatewayError) => void = () => {};

  /**
   * @param head `now`, or `later` when the first message has a say in it (a session id, a status)
   * @param idleMs `timeouts.idle`, for a client that does not read
   */
  constructor(
    exchange: Exchange,
    messages: ClientMessages,
    pending: ReadonlyMap<string, PendingRequest>,
    head: 'now' | 'later',
    idleMs: number,
  ) {
    this.exchange = exchange;
    this.messages = messages;
    this.pending = new Map(pending);
    this.#isStateless = messages.statelessVersion !== undefined;
    this.#format = String(exchange.headers.accept ?? '').includes('text/event-stream') ? 'sse' : 'json';
    this.#headers =
      this.#format === 'sse'
        ? { 'content-type': 'text/event-stream', 'cache-control': 'no-cache', 'x-accel-buffering': 'no' }
        : { 'content-type': 'application/json' };
    this.#outlet = new Outlet(exchange.response, this.#format, idleMs);
    this.done = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    // whoever waits hears of it; nobody does while the message is still being sent
    this.done.catch(() => {});
    exchange.response.once('close', () => this.#close());
    // a client that left while its call was prepared closes nothing any more
    if (this.gone) this.#close();
    else if (head === 'now' && this.#format === 'sse') this.#writeHead();
    else if (this.#isStateless) this.#headTimer = setTimeout(() => this.#writeHead(), HEAD_WAIT_MS);
  }

  /** True when nobody listens any more. */
  get gone(): boolean {
    return this.#outlet.gone;
  }

  /** True when nobody wants an answer to any of the requests that are still open. */
  get isCancelled(): boolean {
    return this.pending.size > 0 && [...this.pending.keys()].every((id) => this.#cancelled.has(id));
  }

  /** Ids on the channel of the requests that are open and that the client has not cancelled. */
  get awaited(): string[] {
    return [...this.pending.keys()].filter((id) => !this.#cancelled.has(id));
  }

  /** Whether anything but answers can be said on it: a plain JSON body has no room for that. */
  get takesMessages(): boolean {
    return this.#format === 'sse' && !this.gone;
  }

  /** The client wants no answer to this request; once that is so of all of them the stream ends. */
  cancel(id: string): void {
    this.#cancelled.add(id);
    this.#endIfCancelled();
  }

  setSession(id: string): void {
    this.#headers['mcp-session-id'] = id;
  }

  /** Sends a message that answers `answered` of the requests, or none; a plain JSON answer holds only answers. */
  async send(pieces: readonly Piece[], answered: readonly string[]): Promise<void> {
    const { response } = this.exchange;
    // answered now: were the channel to break while a slow client takes it, it would be answered twice
    for (const id of answered) this.pending.delete(id);
    if (this.pending.size === 0) await this.release();
    const status = this.#isStateless && answered.length > 0 && !response.headersSent ? statusOf(pieces) : 200;
    if (status !== 200 && !this.gone) this.#refuse(status, pieces);
    else if (this.#format === 'sse' || answered.length > 0) {
      this.#writeHead();
      await this.#outlet.send(pieces, undefined);
    }
    if (this.pending.size === 0) this.#end();
    else this.#endIfCancelled();
  }

  /** A request was answered when nobody listened any more. */
  async missed(id: string): Promise<void> {
    this.pending.delete(id);
    if (this.pending.size === 0) await this.release();
  }

  /** Nothing more will come: every open request gets this error, as the answer's status while that is still open. */
  async fail(error: GatewayError, originalId: (id: string) => string): Promise<void> {
    noteError(this.exchange.facts, error);
    if (!this.exchange.response.headersSent && !this.gone) {
      clearTimeout(this.#headTimer);
      this.#reject(error);
      return;
    }
    for (const id of [...this.pending.keys()]) await this.send([errorAnswer(error, originalId(id))], [id]);
  }

  #writeHead(): void {
    clearTimeout(this.#headTimer);
    const { response } = this.exchange;
    if (response.headersSent || this.gone) return;
    response.writeHead(200, this.#headers);
    response.flushHeaders();
  }

  /** An error with a status of its own is no stream: clients read its body as JSON. */
  #refuse(status: number, pieces: readonly Piece[]): void {
    clearTimeout(this.#headTimer);
    const body = Buffer.concat(pieces as readonly Buffer[]);
    const { response } = this.exchange;
    response.writeHead(status, { 'content-type': 'application/json', 'content-length': String(body.length) });
    response.end(body);
  }

  #endIfCancelled(): void {
    if (!this.isCancelled || this.#cancelTimer) return;
    this.#cancelTimer = setTimeout(() => {
      // an answer that came in the meantime goes out whole, however slow its client is
      if (!this.isCancelled) return;
      const { response } = this.exchange;
      // a plain JSON answer would have to be one; nothing is said of what nobody waits for
      if (!response.headersSent && !this.gone) response.writeHead(202);
      this.#end();
    }, CANCELLED_WAIT_MS).unref();
  }

  #end(): void {
    this.#outlet.end();
    this.#close();
  }

  #close(): void {
    clearTimeout(this.#headTimer);
    clearTimeout(this.#cancelTimer);
    this.exchange.facts.bytesOut = this.#outlet.bytes;
    this.#outlet.end();
    this.#resolve();
  }
}

function statusOf(pieces: readonly Piece[]): number {
  if (!pieces.every(Buffer.isBuffer)) return 200;
  const whole = pieces as readonly Buffer[];
  // an error is short, and only an error has a status of its own
  if (whole.reduce((sum, { length }) => sum + length, 0) > MAX_ERROR_BYTES) return 200;
  const bytes = Buffer.concat(whole);
  if (!bytes.includes('"error"')) return 200;
  const message: unknown = JSON.parse(bytes.toString('utf8'));
  const code = (message as { error?: { code?: unknown } }).error?.code;
  return STATUS_OF_CODE[String(code)] ?? 200;
}
