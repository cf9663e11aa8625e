import type { IncomingMessage } from 'node:http';

/** Most bytes read to keep the connection when an answer that has no body brings one all the same. */
const DRAIN_BYTES = 64 * 1024;

/** Reads away what must not matter. A body that is too long costs its connection. */
export function drain(answer: IncomingMessage): void {
  let seen = 0;
  answer.on('error', () => undefined);
  answer.on('data', (chunk: Buffer) => {
    seen += chunk.length;
    if (seen > DRAIN_BYTES) answer.destroy();
  });
}
