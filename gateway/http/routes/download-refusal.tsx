import type { GatewayError } from '../../errors.js';
import { retryAfterOf } from '../error-response.js';
import { LinkPage } from '../pages/link-page.js';
import { page, wantsPage } from '../pages/page-response.js';

/**
 * Answers a link with an error: JSON for programs, a page for a person in a browser.
 * @param again the query of the link, with which the page tries it again
 */
export function refuse(
  error: GatewayError,
  accept: string | undefined,
  headers: Record<string, string>,
  again: string,
): Response {
  const all = { ...(retryAfterOf(error) !== undefined && { 'retry-after': String(retryAfterOf(error)) }), ...headers };
  if (wantsPage(accept)) return page(<LinkPage error={error} again={again} />, error.httpStatus, all);
  return new Response(JSON.stringify({ error: { code: error.code, message: error.message } }), {
    status: error.httpStatus,
    headers: { 'content-type': 'application/json', ...all },
  });
}
