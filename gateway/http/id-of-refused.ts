import type { IncomingMessage, ServerResponse } from 'node:http';
import type { GatewayError } from '../errors.js';
import { idIn } from '../mcp/request-id.js';
import type { Answer } from '../mcp/responses.js';
import { discardRest } from './discard.js';
import { refuse } from './error-response.js';
import { waitsToSend } from './incoming/expectation.js';

/** Bytes of a refused caller that are looked at. */
const MOST_BYTES = 64 * 1024;

/** Many clients send head and body in two packets. */
const WAIT_MS = 2000;

/** Refused callers that are waited for at one time. Beyond that, they cost too much. */
const MOST_AT_ONCE = 256;

let waiting = 0;

/** Answers a request with an error before its body is read. Its own id is the answer's, where it can be found out. */
export async function refuseUnread(
  request: IncomingMessage,
  response: ServerResponse,
  error: GatewayError,
): Promise<void> {
  refuse(response, error, await answersOfRefused(request));
  discardRest(request);
}

/**
 * What a request asks for that is refused before its body is read. Only a short body is waited for, and not for long: its
 * sender may have no rights. Nothing of a body that something else has read.
 */
export async function answersOfRefused(request: IncomingMessage): Promise<Answer[]> {
  const announced = Number(request.headers['content-length']);
  const isShort = request.method === 'POST' && announced <= MOST_BYTES && !waitsToSend(request);
  if (!isShort || request.readableDidRead || request.destroyed || waiting >= MOST_AT_ONCE) return [];
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
  const id = request.complete ? idIn(pieces) : undefined;
  return id === undefined ? [] : [{ id, base: [] }];
}
