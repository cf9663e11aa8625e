import type { GatewayError } from '../../errors.js';

/** Seconds after which a failure of a store is worth another try. */
const RETRY_SECONDS = '5';

/** An error as the answer to a link: JSON for programs, one plain sentence for a person who opened it in a browser. */
export function refuse(error: GatewayError, accept: string | undefined, headers: Record<string, string>): Response {
  const wantsText = accept?.includes('text/html') === true;
  const body = wantsText
    ? `${error.message}\n`
    : JSON.stringify({ error: { code: error.code, message: error.message } });
  return new Response(body, {
    status: error.httpStatus,
    headers: {
      'content-type': wantsText ? 'text/plain; charset=utf-8' : 'application/json',
      ...(error.httpStatus === 503 ? { 'retry-after': RETRY_SECONDS } : {}),
      ...headers,
    },
  });
}
