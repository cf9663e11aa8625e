import type { Socket } from 'node:net';
import type { StreamedMessage } from '../../../gateway/ports/upstream.js';
import { feed, type Sink } from '../common/feed.js';

/** After a failed write, how long to wait for what the server sent before, in milliseconds. */
const LAST_WORDS_MS = 2000;

type Callback = (error?: Error | null) => void;

/** The two methods through which node's stream writes. Setting them on one socket does not affect others. */
interface Writes {
  _write: (chunk: unknown, encoding: BufferEncoding, callback: Callback) => void;
  _writev: (chunks: unknown, callback: Callback) => void;
}

interface SendOptions {
  /** `timeouts.idle`: longest time in which the server takes nothing, in milliseconds. */
  stallMs: number;
  /** True when the rest need not be sent: the request is over, or has been refused. */
  isOver: () => boolean;
  /** True when the head of an answer has arrived. */
  isAnswered: () => boolean;
  sent: () => void;
  stalled: () => void;
  sourceFailed: (error: unknown) => void;
}

/**
 * Sends a streamed message as the body of a request whose head announces its length. Calls one of `sent`, `stalled` and
 * `sourceFailed`, unless the request ends before.
 */
export async function sendBody(socket: Socket, message: StreamedMessage, options: SendOptions): Promise<void> {
  const { stallMs, isOver } = options;
  const restore = readBeforeFailing(socket, options.isAnswered);
  try {
    const sink = new CountingSink(socket);
    const fed = await feed(message, sink, { stallMs, isOver });
    if (fed.end === 'source failed') return options.sourceFailed(fed.error);
    if (fed.end === 'over' || isOver()) return;
    if (fed.end === 'complete' && (await sink.isTaken(stallMs))) {
      if (!isOver()) options.sent();
      return;
    }
    if (!isOver()) options.stalled();
  } finally {
    restore();
  }
}

/** A socket that goes on to be used, so that the end of a message on it is not its `finish`. */
class CountingSink implements Sink {
  readonly #socket: Socket;
  #waiting = 0;
  #taken: (() => void) | undefined;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  get destroyed(): boolean {
    return this.#socket.destroyed;
  }

  get closed(): boolean {
    return this.#socket.closed;
  }

  on(event: 'drain' | 'finish' | 'close', listener: () => void): this {
    this.#socket.on(event, listener);
    return this;
  }

  off(event: 'drain' | 'finish' | 'close', listener: () => void): this {
    this.#socket.off(event, listener);
    return this;
  }

  write(bytes: Buffer, done?: (error?: Error | null) => void): boolean {
    this.#waiting += 1;
    return this.#socket.write(bytes, (error) => {
      this.#waiting -= 1;
      done?.(error);
      if (this.#waiting === 0) this.#taken?.();
    });
  }

  /** Resolves true when the system has all that was written, false when that takes too long. A closed socket takes all. */
  isTaken(ms: number): Promise<boolean> {
    if (this.#waiting === 0) return Promise.resolve(true);
    return new Promise((resolve) => {
      const settle = (result: boolean): void => {
        clearTimeout(timer);
        this.#socket.off('close', closed);
        resolve(result);
      };
      const closed = (): void => settle(true);
      const timer = setTimeout(() => settle(false), ms);
      this.#taken = closed;
      this.#socket.on('close', closed);
    });
  }
}

/**
 * Some servers refuse early: they answer and close at once. The next write then fails, and node destroys the connection
 * although the answer is waiting in the kernel (RFC 9112 §9.5 asks clients to monitor for it). So a failed write is
 * reported only after the reading side has had time: it ends the connection by itself at the end of the input.
 * @returns undoes that
 */
function readBeforeFailing(socket: Socket, isAnswered: () => boolean): () => void {
  const own = socket as unknown as Writes;
  const { _write, _writev } = own;
  const late =
    (callback: Callback): Callback =>
    (error) => {
      // after Wharf itself closed the connection there is nothing left to read
      if (!error || socket.destroyed) return callback(error);
      const timer = setTimeout(() => {
        if (!isAnswered()) callback(error);
      }, LAST_WORDS_MS);
      socket.once('close', () => clearTimeout(timer));
    };
  own._write = (chunk, encoding, callback) => _write.call(socket, chunk, encoding, late(callback));
  own._writev = (chunks, callback) => _writev.call(socket, chunks, late(callback));
  return () => Object.assign(own, { _write, _writev });
}
