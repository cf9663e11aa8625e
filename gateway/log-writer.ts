import { write, writeSync } from 'node:fs';

/** How long a reader that is behind has until a text is tried again. */
const AGAIN_MS = 100;

/** Longest wait for such a reader when the process ends, and for each look in it. */
const END_MS = 1000;
const END_LOOK_MS = 10;

const LINE_END = 10;

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
  /** A part of a line is there, whose rest was lost. */
  #isTorn = false;
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
    if (this.#waiting === '') return Buffer.alloc(0);
    // the next line must not be lost too
    const piece = Buffer.from(this.#isTorn ? `\n${this.#waiting}` : this.#waiting);
    this.#waiting = '';
    this.#waitingBytes = 0;
    return piece;
  }

  #next(): void {
    this.#piece = undefined;
    if (this.#waiting !== '') this.#send(this.#take());
  }

  /** @param isWithin the line that it begins with has begun in the file */
  #send(piece: Buffer, isWithin = false): void {
    this.#piece = piece;
    this.#again = undefined;
    write(this.#descriptor, piece, (error, length) => {
      if (error && BEHIND.has(error.code)) {
        this.#again = setTimeout(() => this.#send(piece, isWithin), AGAIN_MS).unref();
      } else if (error) {
        this.#options.lost(piece.subarray(this.#isTorn && !isWithin ? 1 : 0).toString());
        this.#isTorn ||= isWithin;
        this.#next();
      } else if (length < piece.length) {
        if (length > 0) this.#isTorn = false;
        this.#send(piece.subarray(length), length > 0 ? piece[length - 1] !== LINE_END : isWithin);
      } else {
        this.#isTorn = false;
        this.#next();
        this.#options.written();
      }
    });
  }
}
