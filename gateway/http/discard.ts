import type { IncomingMessage } from 'node:http';
import { Patience } from '../budget/patience.js';
import { closeSoon } from './connections.js';

/**
 * How much, and how long, a refused client may still send while it reads its answer; then the connection is closed.
 * Without this, a client that sends everything before it reads would see a broken connection and never the reason.
 */
const REST_BYTES = 64 * 1024 * 1024;
const REST_MS = 500;

/** What a client has sent while this process was busy is read before its time is over. */
const PATIENCE = new Patience(REST_MS);

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
  const wait = PATIENCE.begin(end);
  request.on('data', (chunk: Buffer) => {
    received += chunk.length;
    if (received > REST_BYTES) end();
  });
  request.once('close', () => {
    PATIENCE.end(wait);
    discarding -= 1;
  });
  request.resume();
}
