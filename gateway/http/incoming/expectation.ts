import type { IncomingMessage, ServerResponse } from 'node:http';

/** True for a client that sends its body only once it is told to go on. */
export function waitsToSend({ headers, httpVersion }: IncomingMessage): boolean {
  return httpVersion === '1.1' && headers.expect?.toLowerCase() === '100-continue';
}

/** Tells such a client to go on. */
export function letSend(incoming: IncomingMessage, outgoing: ServerResponse): void {
  if (waitsToSend(incoming)) outgoing.writeContinue();
}
