import { Readable } from 'node:stream';
import { countRead } from '../../gateway/budget/read-memory.js';
import { storeTimeout, toStoreError } from './s3-errors.js';

/** Bytes kept ready for the reader: four reads of a socket. */
const READY_BYTES = 256 * 1024;

/**
 * The body of an answer, with the port's errors. A store that goes silent is given up after `silenceMs`. A slow reader
 * is not, because the clock runs only while bytes are wanted.
 */
export class S3Body extends Readable {
  readonly #source: Readable;
  readonly #signal: AbortSignal;
  readonly #silenceMs: number;
  readonly #onAbort = () => this.destroy(this.#signal.reason);
  #silence: NodeJS.Timeout | undefined;

  constructor(source: Readable, silenceMs: number, signal: AbortSignal) {
    super({ highWaterMark: READY_BYTES });
    this.#source = source;
    this.#signal = signal;
    this.#silenceMs = silenceMs;
    signal.addEventListener('abort', this.#onAbort, { once: true });
    // A connection may be lost before anything reads, and an error without a listener ends the process. A reader that
    // comes later gets it all the same.
    this.on('error', () => {});
    source.pause();
    source.on('data', (chunk: Buffer) => this.#take(chunk));
    source.once('end', () => {
      this.#stopClock();
      this.push(null);
    });
    source.on('error', (error) => this.destroy(toStoreError(error, silenceMs)));
    source.once('close', () => {
      if (!source.readableEnded) this.destroy(closedEarly(source, silenceMs));
    });
    // what happened before there was a listener
    if (signal.aborted) this.destroy(signal.reason);
    else if (source.destroyed && !source.readableEnded) this.destroy(closedEarly(source, silenceMs));
  }

  override _read(): void {
    this.#silence ??= setTimeout(() => this.destroy(storeTimeout(this.#silenceMs)), this.#silenceMs);
    this.#source.resume();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#stopClock();
    this.#signal.removeEventListener('abort', this.#onAbort);
    this.#source.destroy();
    done(error);
  }

  #take(chunk: Buffer): void {
    countRead(chunk.length);
    if (this.push(chunk)) this.#silence?.refresh();
    else {
      this.#stopClock();
      this.#source.pause();
    }
  }

  #stopClock(): void {
    clearTimeout(this.#silence);
    this.#silence = undefined;
  }
}

function closedEarly(source: Readable, silenceMs: number): Error {
  return toStoreError(source.errored ?? new Error('The connection ended early.'), silenceMs);
}
