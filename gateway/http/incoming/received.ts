import type { IncomingMessage } from 'node:http';
import type { Pace } from '../../budget/pace.js';
import { breathe } from '../../budget/turn.js';
import { GatewayError } from '../../errors.js';
import type { ReadAhead } from '../../files/uploads/read-ahead.js';
import type { Owner } from '../../ports/owner.js';

interface ReceivedOptions {
  /** Whose work it is. */
  owner: Owner;
  /** Holds bytes until they are read. */
  ahead: ReadAhead;
  /** Watches the client. @param tooSlow called once, when the client is given up */
  paceOf: (tooSlow: (error: GatewayError) => void) => Pace;
  /** Ends the body with the signal's reason. */
  signal: AbortSignal;
}

/**
 * A request's body as it arrives, at the reader's pace. It listens from the start, so that bytes that came with the
 * head are joined instead of kept in as many pieces as the client sent. It never ends early without an error, and when
 * its reader stops, an answer can still be sent. Always call `close`.
 */
export class Received implements AsyncIterable<Buffer> {
  readonly #request: IncomingMessage;
  readonly #owner: Owner;
  readonly #ahead: ReadAhead;
  readonly #pace: Pace;
  readonly #signal: AbortSignal;
  #isOver: boolean;
  #failure: unknown;
  #wake: () => void = () => undefined;

  constructor(request: IncomingMessage, { owner, ahead, paceOf, signal }: ReceivedOptions) {
    this.#request = request;
    this.#owner = owner;
    this.#ahead = ahead;
    this.#signal = signal;
    this.#isOver = request.readableEnded || request.destroyed;
    this.#pace = paceOf((error) => this.#fail(error));
    request.on('data', this.#onData);
    for (const event of ['end', 'error', 'close'] as const) request.on(event, this.#onOver);
    signal.addEventListener('abort', this.#onAbort);
    if (signal.aborted) this.#onAbort();
    this.#want();
  }

  /** @throws GatewayError `upload_incomplete` when the client goes away, `idle_timeout`, `body_too_slow`, `held_full` */
  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    for (;;) {
      // its reader works on each piece at once, and a socket delivers 2 MiB in a turn
      const turn = breathe(this.#owner);
      if (turn) await turn;
      if (this.#failure !== undefined) throw this.#failure;
      if (!this.#ahead.isEmpty) yield* this.#ahead.take();
      else if (this.#isOver && this.#request.complete) return;
      else if (this.#isOver) throw new GatewayError('upload_incomplete', { reason: 'uploadIncomplete' });
      else await this.#more();
    }
  }

  /** Stops listening. */
  close(): void {
    this.#pace.end();
    this.#request.off('data', this.#onData);
    for (const event of ['end', 'error', 'close'] as const) this.#request.off(event, this.#onOver);
    this.#signal.removeEventListener('abort', this.#onAbort);
    this.#request.pause();
    this.#ahead.clear();
  }

  readonly #onData = (chunk: Buffer): void => {
    this.#pace.took(chunk.length);
    try {
      this.#ahead.add(chunk);
    } catch (error) {
      this.#fail(error);
    }
    // Not at once: the rest of what was already read from the socket would be kept chunk by chunk.
    if (this.#ahead.isFull) queueMicrotask(this.#rest);
    this.#wake();
  };

  readonly #rest = (): void => {
    if (!this.#ahead.isFull) return;
    this.#pace.rest();
    this.#request.pause();
  };

  readonly #onOver = (): void => {
    this.#isOver = true;
    this.#pace.end();
    this.#wake();
  };

  readonly #onAbort = (): void => this.#fail(this.#signal.reason);

  #fail(error: unknown): void {
    this.#failure ??= error;
    this.#pace.end();
    this.#wake();
  }

  #want(): void {
    if (this.#isOver || this.#failure !== undefined) return;
    this.#pace.want();
    this.#request.resume();
  }

  async #more(): Promise<void> {
    const came = new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    this.#want();
    await came;
  }
}
