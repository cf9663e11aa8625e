import { Outlet } from '../client/outlet.js';
import type { Piece } from '../cut/splice.js';
import type { Exchange } from '../exchange.js';

/** A session's GET stream: what the server says on its own account. */
export class GetStream {
  readonly exchange: Exchange;
  /** Resolves when the client has gone or the stream was ended. */
  readonly done: Promise<void>;
  readonly #outlet: Outlet;

  constructor(exchange: Exchange, idleMs: number) {
    this.exchange = exchange;
    this.#outlet = new Outlet(exchange.response, 'sse', idleMs);
    this.done = new Promise((resolve) => {
      const over = (): void => {
        exchange.facts.bytesOut = this.#outlet.bytes;
        this.#outlet.end();
        resolve();
      };
      exchange.response.once('close', over);
      // a client that left while its session was looked up closes nothing any more
      if (this.gone) over();
    });
    if (this.gone) return;
    exchange.response.writeHead(200, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache',
      'x-accel-buffering': 'no',
    });
    exchange.response.flushHeaders();
  }

  get gone(): boolean {
    return this.#outlet.gone;
  }

  async send(pieces: readonly Piece[]): Promise<void> {
    await this.#outlet.send(pieces, undefined);
  }

  end(): void {
    this.#outlet.end();
  }
}
