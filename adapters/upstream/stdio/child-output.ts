import { Readable } from 'node:stream';

/** After the process has ended, how long its pipe may stay silent before it is given up, in milliseconds. */
const LAST_BYTES_MS = 2000;

/**
 * A child's stdout that does not end with the pipe. Only the process's exit shows whether that was the end of a session
 * or a crash inside a line, so its owner decides how the stream ends.
 */
export class ChildOutput extends Readable {
  readonly #pipe: Readable;
  #pipeEnded = false;
  #stopped = false;
  #failure: (() => Error) | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** @param pipeEnded called once, when the child has closed its stdout */
  constructor(pipe: Readable, pipeEnded: () => void) {
    super({ highWaterMark: 64 * 1024 });
    this.#pipe = pipe;
    // a process may end before there is a reader, and that must not be an unhandled error
    this.on('error', () => undefined);
    pipe.on('data', (chunk: Buffer) => {
      this.#timer?.refresh();
      if (!this.push(chunk)) pipe.pause();
    });
    pipe.pause();
    const ended = (): void => {
      if (this.#pipeEnded) return;
      this.#pipeEnded = true;
      pipeEnded();
      this.#failWhenRead();
    };
    pipe.on('end', ended);
    // a broken pipe means the same as an end: the process's exit says the rest
    pipe.on('error', ended);
  }

  /**
   * Reports that the process ended by itself. The stream fails once all its output has been read. A process that left
   * the group can keep the pipe open, so a silent pipe is given up after a while.
   */
  fail(failure: () => Error): void {
    if (this.#failure !== undefined || this.#stopped) return;
    this.#failure = failure;
    if (this.#pipeEnded) this.#failWhenRead();
    else this.#timer = setTimeout(() => this.#pipeSilent(), LAST_BYTES_MS).unref();
  }

  /** Ends the stream after what it already holds, because the session was closed. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#pipe.destroy();
    if (this.#failure === undefined && !this.#stopped && !this.destroyed) this.push(null);
    this.#stopped = true;
  }

  override _read(): void {
    this.#pipe.resume();
  }

  override read(size?: number): unknown {
    const chunk: unknown = super.read(size);
    if (this.#failure !== undefined) this.#failWhenRead();
    return chunk;
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    clearTimeout(this.#timer);
    this.#pipe.destroy();
    callback(error);
  }

  #pipeSilent(): void {
    // a slow reader does not make the pipe silent
    if (this.#pipe.isPaused()) this.#timer?.refresh();
    else {
      this.#pipeEnded = true;
      this.#failWhenRead();
    }
  }

  #failWhenRead(): void {
    const failure = this.#failure;
    if (failure === undefined || !this.#pipeEnded || this.readableLength > 0) return;
    // not now: the chunk that emptied the buffer is still on its way to the reader
    process.nextTick(() => {
      if (!this.destroyed) this.destroy(failure());
    });
  }
}
