import type { HeldBudget } from '../../budget/held.js';
import { asGatewayError, type GatewayError } from '../../errors.js';
import type { Owner } from '../../ports/owner.js';
import type { ClientResponse } from '../exchange.js';

type Headers = Record<string, string | string[]>;

/**
 * Takes the place of a client's response while an answer is put together that the client gets in another form. What is
 * written here is kept, and counts against `limits.held` until it is released; the client's own connection is only
 * listened to.
 */
export class CapturedResponse implements ClientResponse {
  readonly #real: ClientResponse;
  readonly #held: HeldBudget;
  readonly #owner: Owner;
  readonly #chunks: Buffer[] = [];
  #size = 0;
  #destroyed = false;
  /** Why no more is kept. */
  failure: GatewayError | undefined;
  status = 200;
  headers: Headers = {};
  headersSent = false;
  writableEnded = false;

  constructor(real: ClientResponse, held: HeldBudget, owner: Owner) {
    this.#real = real;
    this.#held = held;
    this.#owner = owner;
  }

  get destroyed(): boolean {
    return this.#destroyed || this.#real.destroyed;
  }

  /** Sends what has been kept after all. */
  replay(): void {
    if (this.#real.destroyed) return;
    const body = Buffer.concat(this.#chunks);
    this.#real.writeHead(this.status, { ...this.headers, 'content-length': String(body.length) });
    this.#real.end(body);
  }

  /** Nothing of it is used any more. */
  release(): void {
    const size = this.#size;
    this.#size = 0;
    this.#chunks.length = 0;
    this.#held.add(-size, this.#owner);
  }

  writeHead(status: number, headers: Headers = {}): this {
    this.status = status;
    this.headers = headers;
    this.headersSent = true;
    return this;
  }

  flushHeaders(): void {}

  setTimeout(): this {
    return this;
  }

  write(chunk: Buffer): boolean {
    if (this.failure) return true;
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    try {
      this.#held.add(chunk.length, this.#owner);
    } catch (error) {
      this.failure = asGatewayError(error);
    }
    return true;
  }

  end(chunk?: Buffer): this {
    if (chunk) this.write(chunk);
    this.writableEnded = true;
    return this;
  }

  destroy(): this {
    this.#destroyed = true;
    this.#real.destroy();
    return this;
  }

  once(event: 'drain' | 'close', listener: () => void): this {
    this.#real.once(event, listener);
    return this;
  }

  off(event: 'drain' | 'close', listener: () => void): this {
    this.#real.off(event, listener);
    return this;
  }
}
