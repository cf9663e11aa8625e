import type { Readable } from 'node:stream';

/**
 * All that a stream has buffered, or null when that is nothing. One `read()` returned it all up to Node 25; since 26 it
 * returns one of the buffers, and a body of two packets would be cut after the first.
 */
export function readBuffered(stream: Readable): Buffer | null {
  const first = stream.read() as Buffer | null;
  if (first === null) return null;
  const rest: Buffer[] = [];
  for (let next = stream.read() as Buffer | null; next !== null; next = stream.read() as Buffer | null) rest.push(next);
  return rest.length === 0 ? first : Buffer.concat([first, ...rest]);
}
