import type { ClientRequest } from 'node:http';
import type { Socket } from 'node:net';
import type { StreamedMessage } from '../../../gateway/ports/upstream.js';
import { feed, happens } from '../common/feed.js';

/** After a write failed, how long what the server said before is waited for, in milliseconds. */
const LAST_WORDS_MS = 2000;

type Callback = (error?: Error | null) => void;

/** The two methods through which node's stream writes; setting them on one socket leaves all others alone. */
interface Writes {
  _write: (chunk: unknown, encoding: BufferEncoding, callback: Callback) => void;
  _writev: (chunks: unknown, callback: Callback) => void;
}

export interface SendOptions {
  /** `timeouts.idle`: longest time in which the server takes nothing, in milliseconds. */
  stallMs: number;
  /** True when the rest need not be sent: the request is over, or has been refused. */
  isOver: () => boolean;
  /** True when the head of an answer is here. */
  isAnswered: () => boolean;
  sent: () => void;
  stalled: () => void;
  sourceFailed: (error: unknown) => void;
}

/**
 * Sends a streamed message as the body of a request whose head announces its length. One of `sent`, `stalled` and
 * `sourceFailed` is called, unless the request is over before.
 */
export async function sendBody(request: ClientRequest, message: StreamedMessage, options: SendOptions): Promise<void> {
  const { stallMs, isOver } = options;
  readBeforeFailing(request, options.isAnswered);
  // an answer that is complete before the message was sent leaves a connection that nothing can follow on
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
 * A server that refuses early answers and closes at once. The next write then fails, and node throws the connection
 * away, although the answer lies in the kernel (RFC 9112 §9.5 asks clients to watch for it). So a failed write is
 * reported only after the reading side had its time: it ends the connection by itself when it comes to the end.
 */
function readBeforeFailing(request: ClientRequest, isAnswered: () => boolean): void {
  request.once('socket', (socket: Socket) => {
    const own = socket as unknown as Writes;
    const { _write, _writev } = own;
    const late =
      (callback: Callback): Callback =>
      (error) => {
        // of a connection that was given up here there are no last words
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
