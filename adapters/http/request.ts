import type { Socket } from 'node:net';
import { FIELD_NAME, FIELD_VALUE } from './fields.js';

/** What stands in the head of a request. */
interface RequestParts {
  method: string;
  /** Path and query. */
  path: string;
  /** Names and values alternating. Host, Content-Length and Connection are added. */
  headers: readonly string[];
  body?: { readonly length: number } | undefined;
}

/**
 * Most bytes of a body that is written together with its head, as one text of one character a byte: two buffers would be a
 * list of two writes.
 */
const ONE_WRITE_BYTES = 12 * 1024;

const NOT_TARGET = /[^\x21-\x7e\x80-\xff]/;

/**
 * The head of a request, one character for each byte, with the blank line that ends it.
 * @throws TypeError for a name, value or target that HTTP does not allow
 */
export function requestHead({ method, path, headers, body }: RequestParts, host: string): string {
  if (NOT_TARGET.test(path)) throw new TypeError('the target of a request has a character that HTTP does not allow');
  let head = `${method} ${path} HTTP/1.1\r\nHost: ${host}\r\n`;
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const name = headers[at] as string;
    const value = headers[at + 1] as string;
    if (!FIELD_NAME.test(name)) throw new TypeError('a header has a name that HTTP does not allow');
    if (!FIELD_VALUE.test(value)) throw new TypeError(`the header ${name} has a character that HTTP does not allow`);
    head += `${name}: ${value}\r\n`;
  }
  if (body !== undefined) head += `Content-Length: ${body.length}\r\n`;
  return `${head}Connection: keep-alive\r\n\r\n`;
}

/** Writes a request whose body is in memory. */
export function writeRequest(socket: Socket, head: string, body: Buffer | undefined): void {
  if (body === undefined || body.length <= ONE_WRITE_BYTES) {
    socket.write(body ? head + body.toString('latin1') : head, 'latin1');
    return;
  }
  socket.cork();
  socket.write(head, 'latin1');
  socket.write(body);
  socket.uncork();
}
