import type { IncomingMessage } from 'node:http';

/** Characters of what a program says of itself. */
const MAX_AGENT = 100;

/** What a log says of who opened a link: the link is the right to the file, and nobody is asked for a name. */
export function callerOf({ socket, headers }: Pick<IncomingMessage, 'socket' | 'headers'>) {
  return { address: socket.remoteAddress, agent: headers['user-agent']?.slice(0, MAX_AGENT) };
}
