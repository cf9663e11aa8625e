import type { IncomingMessage } from 'node:http';
import type { SafeResponse } from '../response.js';

/** Seconds for which a browser need not ask again. None keeps an answer for longer. */
const ASK_AGAIN_SECONDS = String(2 * 60 * 60);

/**
 * What such a page may do. Nothing here depends on cookies: without `Access-Control-Allow-Credentials` a browser sends
 * none, and `*` stands for every header, except that `Authorization` must be named (Fetch, section 3.3).
 */
const PREFLIGHT = {
  'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
  'access-control-allow-headers': '*, Authorization',
  'access-control-max-age': ASK_AGAIN_SECONDS,
};

/**
 * CORS: lets a page of another site, which may call, read this answer too, whatever its route and status.
 * @returns true when the request was the browser's own question before one of the page's, which has its answer now
 */
export function letPageRead(origin: string, request: IncomingMessage, response: SafeResponse): boolean {
  response.further = {
    'access-control-allow-origin': origin,
    'access-control-expose-headers': '*',
    vary: 'Origin',
  };
  if (request.method !== 'OPTIONS' || request.headers['access-control-request-method'] === undefined) return false;
  response.writeHead(204, PREFLIGHT);
  response.end();
  return true;
}
