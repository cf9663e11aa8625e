import { write, writeSync } from 'node:fs';

/** How long a reader that is behind has until a text is tried again. */
const AGAIN_MS = 100;

/** Longest wait for such a reader when the process ends, and for each look in it. */
const END_MS = 1000;
const END_LOOK_MS = 10;

/** The reader is there, and has no room now. */
const BEHIND = new Set<string | undefined>(['EAGAIN', 'EBUSY']);

interface LogWriterOptions {
  /** Bytes that may wait; further texts are lost. */
  most: number;
  /** Called for a text that does not reach the reader. */
  lost: (text: string) => void;
  /** Called after each text that does. */
  written: () => void;
}

/**
 * Writes texts to a file descriptor in their order, each through a thread, and what waits when the process ends. A text
 * that cannot be written is lost, and the next one is tried: a log whose reader has gone, or whose disk is full, must
 * neither end a gateway nor keep it from its end.
 */
export class LogWriter {
  readonly #descriptor: number;
  readonly #options: LogWriterOptions;
  #waiting = '';
  #waitingBytes = 0;
  /** What is being written, or waits for a reader that is behind. */
  #piece: Buffer | undefined;
  /** Set while the piece waits. */
  #again: NodeJS.Timeout | undefined;

  constructor(descriptor: number, options: LogWriterOptions) {
    this.#descriptor = descriptor;
    this.#options = options;
  }

  write(text: string): void {
    const bytes = Buffer.byteLength(text);
    if (this.#waitingBytes + bytes + (this.#piece?.length ?? 0) > this.#options.most) {
      this.#options.lost(text);
      return;
    }
    this.#waiting += text;
    this.#waitingBytes += bytes;
    if (!this.#piece) this.#next();
  }

  /** Writes at once what waits. What a thread is writing at that time is left to it. */
  end(): void {
    clearTimeout(this.#again);
    const until = performance.now() + END_MS;
    let rest = Buffer.concat([...(this.#again && this.#piece ? [this.#piece] : []), this.#take()]);
    while (rest.length > 0) {
      try {
        rest = rest.subarray(writeSync(this.#descriptor, rest));
      } catch (error) {
        if (!BEHIND.has((error as NodeJS.ErrnoException).code) || performance.now() >= until) return;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, END_LOOK_MS);
      }
    }
  }

  #take(): Buffer {
    const piece = Buffer.from(this.#waiting);
    this.#waiting = '';
    this.#waitingBytes = 0;
    return piece;
  }

  #next(): void {
    this.#piece = undefined;
    if (this.#waiting !== '') this.#send(this.#take());
  }

  #send(piece: Buffer): void {
    this.#piece = piece;
    this.#again = undefined;
    write(this.#descriptor, piece, (error, length) => {
      if (error && BEHIND.has(error.code)) {
        this.#again = setTimeout(() => this.#send(piece), AGAIN_MS).unref();
      } else if (error) {
        this.#options.lost(piece.toString());
        this.#next();
      } else if (length < piece.length) {
        this.#send(piece.subarray(length));
      } else {
        this.#next();
        this.#options.written();
      }
    });
  }
}
