import type { IncomingMessage } from 'node:http';
import { closeSoon } from './connections.js';

/**
 * How much, and how long, a refused client may still send while it reads its answer; then the connection is closed.
 * Without this, a client that sends everything before it reads would see a broken connection and never the reason.
 */
const REST_BYTES = 64 * 1024 * 1024;
const REST_MS = 500;

/** Requests whose rest is read at one time. Beyond that, refused callers cost too much. */
const MOST_AT_ONCE = 256;

let discarding = 0;

/** Reads and drops the rest of a body, so that the connection can be reused. */
export function discardRest(request: IncomingMessage): void {
  if (request.complete || request.destroyed) {
    request.resume();
    return;
  }
  const end = () => closeSoon(request.socket);
  if (discarding >= MOST_AT_ONCE) {
    end();
    return;
  }
  discarding += 1;
  let received = 0;
  const timer = setTimeout(end, REST_MS);
  request.on('data', (chunk: Buffer) => {
    received += chunk.length;
    if (received > REST_BYTES) end();
  });
  request.once('close', () => {
    clearTimeout(timer);
    discarding -= 1;
  });
  request.resume();
}
