import { asGatewayError, type GatewayError } from '../../errors.js';
import type { HeldMessage } from '../../wire/json/reader.js';
import type { ClientResponse } from '../exchange.js';
import { type OwnAnswerOptions, OwnAnswerReader } from './own-answer-reader.js';

type Headers = Record<string, string | string[]>;

/**
 * The response to an exchange that Wharf has begun itself: the answer to its request is found in what is written, and
 * nothing else is kept. Nobody waits behind it, so it takes whatever comes.
 */
export class OwnResponse implements ClientResponse {
  readonly #options: OwnAnswerOptions;
  readonly #enough: () => void;
  #reader: OwnAnswerReader | undefined;
  /** What was wrong with what was written. */
  failure: GatewayError | undefined;
  status = 200;
  headers: Headers = {};
  headersSent = false;
  writableEnded = false;
  destroyed = false;

  /** @param enough called once, when the answer is there, or when there will be none that can be used */
  constructor(options: OwnAnswerOptions, enough: () => void) {
    this.#options = options;
    this.#enough = enough;
  }

  get answer(): HeldMessage | undefined {
    return this.#reader?.answer;
  }

  /** The answer is not used any more. */
  release(): void {
    this.#reader?.release();
  }

  writeHead(status: number, headers: Headers = {}): this {
    this.status = status;
    this.headers = headers;
    this.headersSent = true;
    const type = String(headers['content-type'] ?? '');
    const kind = type.includes('text/event-stream') ? 'sse' : /json/i.test(type) ? 'json' : undefined;
    if (kind) this.#reader = new OwnAnswerReader(kind, this.#options);
    return this;
  }

  flushHeaders(): void {}

  setTimeout(): this {
    return this;
  }

  write(chunk: Buffer): boolean {
    this.#take((reader) => reader.feed(chunk));
    return true;
  }

  end(chunk?: Buffer): this {
    if (chunk) this.write(chunk);
    this.#take((reader) => reader.end());
    this.writableEnded = true;
    return this;
  }

  destroy(): this {
    this.destroyed = true;
    return this;
  }

  once(): this {
    return this;
  }

  off(): this {
    return this;
  }

  #take(step: (reader: OwnAnswerReader) => void): void {
    if (!this.#reader || this.failure || this.answer || this.writableEnded) return;
    try {
      step(this.#reader);
    } catch (error) {
      this.failure = asGatewayError(error);
    }
    if (this.failure || this.answer) this.#enough();
  }
}
