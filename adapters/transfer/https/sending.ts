import type { ClientRequest } from 'node:http';
import { GatewayError } from '../../../gateway/errors.js';
import type { FileToSend } from '../../../gateway/ports/transfer.js';
import type { Form } from './multipart.js';
import type { Run } from './run.js';

/** Sends files in a request, one piece at a time, at the peer's pace. */
export class Sending {
  readonly #files: readonly FileToSend[];
  readonly #form: Form | undefined;
  readonly #run: Run;
  #written = 0;
  #isReading = false;

  /** @param files exactly one, unless they go as a form */
  constructor(files: readonly FileToSend[], form: Form | undefined, run: Run) {
    this.#files = files;
    this.#form = form;
    this.#run = run;
  }

  /** Bytes of the whole body. */
  get length(): number {
    const { before = [], after } = this.#form ?? {};
    const around = [...before, ...(after ? [after] : [])].reduce((sum, { length }) => sum + length, 0);
    return this.#files.reduce((sum, { size }) => sum + size, around);
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
    for (const [at, file] of this.#files.entries()) {
      const before = this.#form?.before[at];
      if (before !== undefined) await this.#write(request, before);
      // the peer has refused, or is gone: do not send the rest
      if (!(await this.#sendFile(request, file))) return;
    }
    if (this.#form !== undefined) await this.#write(request, this.#form.after);
    request.end();
  }

  /** @returns false when the rest is not to be sent */
  async #sendFile(request: ClientRequest, file: FileToSend): Promise<boolean> {
    const { size } = file;
    let sent = 0;
    for await (const piece of this.#pieces(file)) {
      if (request.destroyed) return false;
      sent += piece.length;
      // bytes after the announced length would be read as another request
      if (sent > size) break;
      await this.#write(request, piece);
    }
    if (sent !== size) {
      throw new GatewayError('internal', {}, new Error(`a file of ${size} bytes gave ${sent} when it was sent`));
    }
    return true;
  }

  async *#pieces(file: FileToSend): AsyncGenerator<Buffer> {
    this.#isReading = true;
    for await (const piece of file.read()) {
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
