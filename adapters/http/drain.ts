import type { Answer } from './answer.js';

/** Most bytes read to keep the connection when an answer that should have no body has one. */
const DRAIN_BYTES = 64 * 1024;

/** Milliseconds for reading them. */
const DRAIN_MS = 1000;

/** Reads and drops a body. If it is too long, or never ends, the connection is closed. */
export function drain(answer: Answer): void {
  // then its connection is free already
  if (answer.whole) return;
  const { body } = answer;
  let seen = 0;
  const timer = setTimeout(() => body.destroy(), DRAIN_MS);
  body.once('close', () => clearTimeout(timer));
  body.on('error', () => undefined);
  body.on('data', (chunk: Buffer) => {
    seen += chunk.length;
    if (seen > DRAIN_BYTES) body.destroy();
  });
}
