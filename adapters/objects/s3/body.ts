import { Readable } from 'node:stream';
import { countRead } from '../../../gateway/budget/memory/read-memory.js';
import { storeTimeout, toStoreError } from './errors.js';

/** Bytes kept ready for the reader: four reads of a socket. */
const READY_BYTES = 256 * 1024;

/**
 * Bytes that the store owes within `silenceMs`, or the rest if that is less: one that sends a byte now and then would keep its
 * reader waiting for days.
 */
const OWED_BYTES = 64 * 1024;

/**
 * The body of an answer, exactly as long as it should be, with the port's errors. A store that goes silent, or drips, is given up
 * after `silenceMs`. A slow reader is not, because the clock runs only while bytes are wanted.
 */
export class S3Body extends Readable {
  readonly #source: Readable;
  readonly #signal: AbortSignal;
  readonly #silenceMs: number;
  readonly #onAbort = () => this.destroy(this.#signal.reason);
  /** Bytes still to come. */
  #left: number;
  #silence: NodeJS.Timeout | undefined;
  /** Bytes that must come before the clock begins anew. */
  #owed = OWED_BYTES;

  /** @param length of the body, in bytes */
  constructor(source: Readable, length: number, silenceMs: number, signal: AbortSignal) {
    super({ highWaterMark: READY_BYTES });
    this.#source = source;
    this.#left = length;
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
      if (this.#left === 0) this.push(null);
      else this.destroy(toStoreError(new Error(`The object ended ${this.#left} bytes early.`), silenceMs));
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
    this.#left -= chunk.length;
    if (this.#left < 0) {
      const longer = new Error('The object is longer than the store announced.');
      return void this.destroy(toStoreError(longer, this.#silenceMs));
    }
    this.#owed -= chunk.length;
    if (this.push(chunk)) {
      if (this.#owed > 0) return;
      this.#owed = OWED_BYTES;
      this.#silence?.refresh();
    } else {
      this.#stopClock();
      this.#source.pause();
    }
  }

  #stopClock(): void {
    clearTimeout(this.#silence);
    this.#silence = undefined;
    this.#owed = OWED_BYTES;
  }
}

function closedEarly(source: Readable, silenceMs: number): Error {
  return toStoreError(source.errored ?? new Error('The connection ended early.'), silenceMs);
}
