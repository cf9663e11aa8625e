import type { IncomingMessage } from 'node:http';
import { Crowds } from '../budget/collections/most-used.js';
import { Patience } from '../budget/patience.js';
import { closeSoon, ownerOf } from './connections.js';

/**
 * How much, and how long, a refused client may still send while it reads its answer; then the connection is closed.
 * Without this, a client that sends everything before it reads would see a broken connection and never the reason.
 */
const REST_BYTES = 64 * 1024 * 1024;
const LONGEST_MS = 5000;

/** How often it is looked at. A client that sent nothing since has read its answer, or never will. */
const PAUSE_MS = 500;

/** What a client has sent while this process was busy is read before its time is over. */
const LONGEST = new Patience(LONGEST_MS);
const PAUSE = new Patience(PAUSE_MS);

/** Requests whose rest is read at one time. For one more, that of the caller with the most which was refused longest ago is closed. */
const MOST_AT_ONCE = 256;

/** What closes each of them. */
const discarding = new Crowds<() => void>();
let count = 0;

/**
 * Reads and drops the rest of a body, so that the connection can be reused.
 * @param caller who was answered, where that is known; else its address counts
 */
export function discardRest(request: IncomingMessage, caller = ''): void {
  if (request.complete || request.destroyed) {
    request.resume();
    return;
  }
  if (count >= MOST_AT_ONCE) discarding.first?.();
  const { socket } = request;
  const stop = () => {
    LONGEST.end(longest);
    PAUSE.end(pause);
    socket.off('close', stop);
    if (!crowd.spare.remove(place)) return;
    discarding.leave(crowd);
    count -= 1;
  };
  const end = () => {
    stop();
    closeSoon(socket);
  };
  const begun = socket.bytesRead;
  let read = begun;
  // by the socket's count: of a request that it drops itself, Node tells no data
  const look = () => {
    const isPausing = socket.bytesRead === read;
    read = socket.bytesRead;
    if (isPausing || read - begun > REST_BYTES) end();
    else pause = PAUSE.begin(look);
  };
  const crowd = discarding.enter(ownerOf(socket, caller));
  const place = crowd.spare.add(end);
  count += 1;
  const longest = LONGEST.begin(end);
  let pause = PAUSE.begin(look);
  request.once('close', stop);
  // once it is answered, Node says no more of a request whose connection closes
  socket.once('close', stop);
  request.resume();
}
