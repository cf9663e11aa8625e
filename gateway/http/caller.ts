import type { IncomingMessage } from 'node:http';

/** Most characters of a program's own name in a log. */
const MAX_AGENT = 100;

/**
 * What a log says about the program that opened a link. The link itself is the right to the file, so the caller has no
 * name.
 */
export function callerOf({ socket, headers }: Pick<IncomingMessage, 'socket' | 'headers'>) {
  return { address: socket.remoteAddress, agent: headers['user-agent']?.slice(0, MAX_AGENT) };
}
