import type { ClientRequest } from 'node:http';
import type { Socket } from 'node:net';
import type { StreamedMessage } from '../../../gateway/ports/upstream.js';
import { feed, happens } from '../common/feed.js';

/** After a failed write, how long to wait for what the server sent before, in milliseconds. */
const LAST_WORDS_MS = 2000;

type Callback = (error?: Error | null) => void;

/** The two methods through which node's stream writes. Setting them on one socket does not affect others. */
interface Writes {
  _write: (chunk: unknown, encoding: BufferEncoding, callback: Callback) => void;
  _writev: (chunks: unknown, callback: Callback) => void;
}

export interface SendOptions {
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
export async function sendBody(request: ClientRequest, message: StreamedMessage, options: SendOptions): Promise<void> {
  const { stallMs, isOver } = options;
  readBeforeFailing(request, options.isAnswered);
  // when the answer is complete before the message was sent, the connection cannot be reused
  request.once('response', (answer) => answer.once('end', () => request.writableFinished || request.destroy()));
  const fed = await feed(message, request, { stallMs, isOver });
  if (fed.end === 'source failed') return options.sourceFailed(fed.error);
  if (fed.end === 'over' || isOver()) return;
  if (fed.end === 'complete') {
    request.end();
    if (request.writableFinished || (await happens(request, 'finish', stallMs))) {
      if (!isOver()) options.sent();
      return;
    }
  }
  if (!isOver()) options.stalled();
}

/**
 * Some servers refuse early: they answer and close at once. The next write then fails, and node destroys the connection
 * although the answer is waiting in the kernel (RFC 9112 §9.5 asks clients to monitor for it). So a failed write is
 * reported only after the reading side has had time: it ends the connection by itself at the end of the input.
 */
function readBeforeFailing(request: ClientRequest, isAnswered: () => boolean): void {
  request.once('socket', (socket: Socket) => {
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
    request.once('close', () => Object.assign(own, { _write, _writev }));
  });
}
