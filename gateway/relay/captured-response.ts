import type { ClientResponse } from './outlet.js';

/**
 * Takes the place of a client's response while an answer is put together that the client gets in another form. What is
 * written here is kept; the client's own connection is only listened to, where there is one.
 */
export class CapturedResponse implements ClientResponse {
  readonly #real: ClientResponse | undefined;
  readonly #chunks: Buffer[] = [];
  #destroyed = false;
  status = 200;
  headers: Record<string, string | string[]> = {};
  headersSent = false;
  writableEnded = false;

  constructor(real?: ClientResponse) {
    this.#real = real;
  }

  get destroyed(): boolean {
    return this.#destroyed || this.#real?.destroyed === true;
  }

  /** What has been kept. */
  get body(): Buffer {
    return Buffer.concat(this.#chunks);
  }

  /** Sends what has been kept after all. */
  replay(): void {
    if (!this.#real || this.#real.destroyed) return;
    const { body } = this;
    this.#real.writeHead(this.status, { ...this.headers, 'content-length': String(body.length) });
    this.#real.end(body);
  }

  writeHead(status: number, headers: Record<string, string | string[]> = {}): this {
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
    this.#chunks.push(chunk);
    return true;
  }

  end(chunk?: Buffer): this {
    if (chunk) this.#chunks.push(chunk);
    this.writableEnded = true;
    return this;
  }

  destroy(): this {
    this.#destroyed = true;
    this.#real?.destroy();
    return this;
  }

  once(event: 'drain' | 'close', listener: () => void): this {
    this.#real?.once(event, listener);
    return this;
  }

  off(event: 'drain' | 'close', listener: () => void): this {
    this.#real?.off(event, listener);
    return this;
  }
}
