import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

/** Bytes that a client may send behind the request of such an answer: a few requests that it does not wait to send. */
const MOST_DROPPED = 64 * 1024;

/** The needed part of the parser that Node keeps with a connection for as long as it is open. */
interface Parser {
  /** The last request whose head it has read. */
  readonly incoming: unknown;
  /** Takes it out of those whose heads Node waits for. */
  remove(): void;
  /** Gives its memory back; what is asked of it afterwards does nothing. */
  close(): void;
}

/**
 * Lets the HTTP parser of a request's connection go, while an answer is sent that ends with its client: of the 37 KiB that a
 * silent stream took, the parser was 10, and Node has no other way to free it than the end of the connection. What the client
 * sends from now on is dropped, and after 64 KiB ends the connection, which must end with the answer in any case.
 *
 * To be called when the parser does not run, as from `setImmediate`.
 * @returns false, with nothing changed, where the next request has begun, or this Node has no such parser
 */
export function releaseParser(request: IncomingMessage): boolean {
  const { socket, complete } = request;
  const parser: unknown = Reflect.get(socket, 'parser');
  if (socket.destroyed || !complete || !isParser(parser) || parser.incoming !== request) return false;
  socket.removeAllListeners('data');
  // Node gives what comes to a listener instead of the parser, and hears of the connection's end without it
  socket.on('data', drop);
  Reflect.set(socket, 'parser', null);
  parser.remove();
  parser.close();
  return true;
}

function isParser(value: unknown): value is Parser {
  if (typeof value !== 'object' || value === null) return false;
  return ['remove', 'close'].every((name) => typeof Reflect.get(value, name) === 'function');
}

/** Not a number for each silent stream, of which most never send anything. */
const dropped = new WeakMap<Socket, number>();

function drop(this: Socket, bytes: Buffer): void {
  const sum = (dropped.get(this) ?? 0) + bytes.length;
  dropped.set(this, sum);
  if (sum > MOST_DROPPED) this.destroy();
}
