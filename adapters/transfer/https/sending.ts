import type { ClientRequest } from 'node:http';
import { GatewayError } from '../../../gateway/errors.js';
import type { UploadRequest } from '../../../gateway/ports/transfer.js';
import type { Form } from './multipart.js';
import type { Run } from './run.js';

/** Sends a file in a request, one piece at a time, at the peer's pace. */
export class Sending {
  readonly #file: UploadRequest['file'];
  readonly #form: Form | undefined;
  readonly #run: Run;
  #written = 0;
  #isReading = false;

  constructor(file: UploadRequest['file'], form: Form | undefined, run: Run) {
    this.#file = file;
    this.#form = form;
    this.#run = run;
  }

  /** Bytes of the whole body. */
  get length(): number {
    const around = this.#form === undefined ? 0 : this.#form.before.length + this.#form.after.length;
    return this.#file.size + around;
  }

  /** True while the next piece is being read, which is not the peer's fault. */
  get isReading(): boolean {
    return this.#isReading;
  }

  /**
   * True when everything has been handed to the connection. The peer's answer can arrive before the connection reports
   * the last piece as sent.
   */
  get complete(): boolean {
    return this.#written === this.length;
  }

  /** Writes and ends the request. A failing source ends the whole transfer with its own error. */
  start(request: ClientRequest): void {
    this.#send(request).catch((error: unknown) => this.#run.stop(error));
  }

  async #send(request: ClientRequest): Promise<void> {
    if (this.#form !== undefined) await this.#write(request, this.#form.before);
    const { size } = this.#file;
    let sent = 0;
    for await (const piece of this.#pieces()) {
      // the peer has refused, or is gone: do not send the rest
      if (request.destroyed) return;
      sent += piece.length;
      // bytes after the announced length would be read as another request
      if (sent > size) break;
      await this.#write(request, piece);
    }
    if (sent !== size) {
      throw new GatewayError('internal', {}, new Error(`a file of ${size} bytes gave ${sent} when it was sent`));
    }
    if (this.#form !== undefined) await this.#write(request, this.#form.after);
    request.end();
  }

  async *#pieces(): AsyncGenerator<Buffer> {
    this.#isReading = true;
    for await (const piece of this.#file.read()) {
      this.#isReading = false;
      yield piece;
      this.#isReading = true;
    }
    this.#isReading = false;
  }

  /** Resolves when the peer has room for more, or is gone. */
  async #write(request: ClientRequest, piece: Buffer): Promise<void> {
    this.#written += piece.length;
    if (request.destroyed || request.write(piece)) return;
    await new Promise<void>((resolve) => {
      const go = (): void => {
        request.off('drain', go);
        request.off('close', go);
        resolve();
      };
      request.on('drain', go);
      request.on('close', go);
    });
  }
}
