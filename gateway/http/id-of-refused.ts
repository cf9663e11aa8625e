import type { IncomingMessage } from 'node:http';
import { idIn } from '../mcp/request-id.js';

/** Bytes of a refused caller that are looked at. */
const MOST_BYTES = 64 * 1024;

/** Many clients send head and body in two packets. */
const WAIT_MS = 2000;

/** Refused callers that are waited for at one time. Beyond that, they cost too much. */
const MOST_AT_ONCE = 256;

let waiting = 0;

/**
 * The id, as JSON text, of a request that is refused before its body is read. Only a short body is waited for, and not
 * for long: its sender has no rights.
 */
export async function idOfRefused(request: IncomingMessage): Promise<string | undefined> {
  const announced = Number(request.headers['content-length']);
  if (request.method !== 'POST' || !(announced <= MOST_BYTES) || waiting >= MOST_AT_ONCE) return undefined;
  const pieces: Buffer[] = [];
  const take = (piece: Buffer) => void pieces.push(piece);
  waiting += 1;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, WAIT_MS);
    const end = () => {
      clearTimeout(timer);
      resolve();
    };
    request.on('data', take);
    request.once('end', end);
    request.once('close', end);
  });
  waiting -= 1;
  request.off('data', take);
  return request.complete ? idIn(pieces) : undefined;
}
