import type { IncomingMessage } from 'node:http';

/** Most bytes read to keep the connection when an answer that should have no body has one. */
const DRAIN_BYTES = 64 * 1024;

/** Milliseconds for reading them. */
const DRAIN_MS = 1000;

/** Reads and drops a body. If it is too long, or never ends, the connection is closed. */
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
