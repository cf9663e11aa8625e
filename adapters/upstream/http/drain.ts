import type { IncomingMessage } from 'node:http';

/** Most bytes read to keep the connection when an answer that has no body brings one all the same. */
const DRAIN_BYTES = 64 * 1024;

/** Milliseconds for that. */
const DRAIN_MS = 1000;

/** Reads away what must not matter. A body that is too long, or never ends, costs its connection. */
export function drain(answer: IncomingMessage): void {
  let seen = 0;
  const timer = setTimeout(() => answer.destroy(), DRAIN_MS);
  answer.once('close', () => clearTimeout(timer));
  answer.on('error', () => undefined);
  answer.on('data', (chunk: Buffer) => {
    seen += chunk.length;
    if (seen > DRAIN_BYTES) answer.destroy();
  });
}
