import type { Piece } from '../../json/written.js';
import type { Caller } from '../caller.js';
import type { Reply } from '../reply.js';

/** A session's GET stream: the messages that a server sends on its own account. */
export class GetStream {
  /** Whose it is. */
  readonly caller: Caller;
  /** Resolves when the client has gone or the stream was ended. */
  readonly done: Promise<void>;
  readonly #reply: Reply;

  constructor(caller: Caller) {
    const { exchange } = caller;
    this.caller = caller;
    this.#reply = exchange.reply;
    this.done = new Promise((resolve) => {
      const over = (): void => {
        exchange.facts.bytesOut = this.#reply.written;
        this.#reply.end();
        resolve();
      };
      this.#reply.onClose(over);
      // if the client left while its session was looked up, there is no close event to come
      if (this.gone) over();
    });
    if (this.gone) return;
    this.#reply.head({
      status: 200,
      body: 'events',
      headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-cache', 'x-accel-buffering': 'no' },
      isEarly: true,
    });
  }

  get gone(): boolean {
    return this.#reply.gone;
  }

  /** @param asks as in `MessageFacts` */
  async send(pieces: readonly Piece[], asks?: string): Promise<void> {
    await this.#reply.message(pieces, { asks });
  }

  end(): void {
    this.#reply.end();
  }
}
