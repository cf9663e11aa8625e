import type { GatewayError } from '../../errors.js';
import { retryAfterOf } from '../error-response.js';
import { LinkPage } from '../pages/link-page.js';
import { page, wantsPage } from '../pages/page-response.js';

/** Answers a link with an error: JSON for programs, a page for a person in a browser. */
export function refuse(error: GatewayError, accept: string | undefined, headers: Record<string, string>): Response {
  const all = { ...(retryAfterOf(error) !== undefined && { 'retry-after': String(retryAfterOf(error)) }), ...headers };
  if (wantsPage(accept)) return page(<LinkPage error={error} />, error.httpStatus, all);
  return new Response(JSON.stringify({ error: { code: error.code, message: error.message } }), {
    status: error.httpStatus,
    headers: { 'content-type': 'application/json', ...all },
  });
}
