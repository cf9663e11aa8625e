import type { GatewayError } from '../../errors.js';
import { RETRY_AFTER_SECONDS } from '../error-response.js';

/** Answers a link with an error: JSON for programs, one plain sentence for a person in a browser. */
export function refuse(error: GatewayError, accept: string | undefined, headers: Record<string, string>): Response {
  const wantsText = accept?.includes('text/html') === true;
  const body = wantsText
    ? `${error.message}\n`
    : JSON.stringify({ error: { code: error.code, message: error.message } });
  return new Response(body, {
    status: error.httpStatus,
    headers: {
      'content-type': wantsText ? 'text/plain; charset=utf-8' : 'application/json',
      ...(error.httpStatus === 503 ? { 'retry-after': String(RETRY_AFTER_SECONDS) } : {}),
      ...headers,
    },
  });
}
