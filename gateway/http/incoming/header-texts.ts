import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Names and values of one request that do not count: 64 headers, more than honest clients and the proxies before them send
 * together.
 */
const FREE = 128;

/** Of a name or a value of a few letters, as Node keeps it: 16 KiB of such headers are 110 KiB, with what has to be collected 220. */
const TEXT_BYTES = 48;

/** Bytes that count of a head with this many names and values. */
export function headerBytes(texts: number): number {
  return Math.max(0, texts - FREE) * TEXT_BYTES;
}

/**
 * Bytes that count of a head that has not come to its end. Node's parser keeps names and values, by 32 headers, and shows them
 * nowhere else.
 */
export function unfinishedHeaderBytes(socket: Socket): number {
  const { parser } = socket as Socket & { parser?: { _headers?: readonly string[] } | null };
  return headerBytes(parser?._headers?.length ?? 0);
}

/**
 * Lets a request's raw headers go, 250 bytes that only the checks before an open stream have read. Those that count stay: by
 * their number they are taken off the count.
 */
export function forgetRawHeaders(request: Pick<IncomingMessage, 'rawHeaders'>): void {
  if (headerBytes(request.rawHeaders.length) === 0) request.rawHeaders = [];
}
