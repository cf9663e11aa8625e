import type { IncomingHttpHeaders } from 'node:http';
import { GatewayError } from '../../errors.js';
import { accepts } from '../../mcp/accept.js';

/** True when a person opens an address in a browser, not an MCP client and not a part of some page. */
export function isPageVisit(method: string | undefined, headers: IncomingHttpHeaders): boolean {
  const { accept = '' } = headers;
  if (method !== 'GET' && method !== 'HEAD') return false;
  if (!/\btext\/html\b/i.test(accept) || /\btext\/event-stream\b/i.test(accept)) return false;
  // old browsers say neither
  return (
    (headers['sec-fetch-mode'] ?? 'navigate') === 'navigate' && (headers['sec-fetch-dest'] ?? 'document') === 'document'
  );
}

/** True for a program that takes text, such as curl; false for a part of another site's page, and for an MCP client. */
export function takesText({ accept = '*/*', 'sec-fetch-site': site = 'none' }: IncomingHttpHeaders): boolean {
  const isOwn = site === 'none' || site === 'same-origin';
  return isOwn && accepts(accept, 'text/plain') && !/\btext\/event-stream\b/i.test(accept);
}

/**
 * Refuses requests that a browser sends to an MCP endpoint and an MCP client never does: for a page, or a part of one.
 * The answer would be a server's own bytes under Wharf's address. Old browsers do not say what a request is for, but
 * none of them accepts event streams for a page or a picture.
 * @throws GatewayError `navigation_refused`, `origin_forbidden`, `not_acceptable`
 */
export function refusePages(method: string | undefined, headers: IncomingHttpHeaders): void {
  const { accept, origin } = headers;
  const mode = headers['sec-fetch-mode'];
  const destination = headers['sec-fetch-dest'];
  const site = headers['sec-fetch-site'];
  if (mode === 'navigate' || (destination !== undefined && destination !== 'empty')) {
    throw new GatewayError('navigation_refused');
  }
  // a page that may not read the answer can send this without an Origin, with any Accept
  if (origin === undefined && (mode === 'no-cors' || site === 'cross-site' || site === 'same-site')) {
    throw new GatewayError('origin_forbidden', { origin: 'another site' });
  }
  if (method === 'GET' && !/(?:^|[,\s])text\/event-stream(?:[;,\s]|$)/i.test(accept ?? '')) {
    throw new GatewayError('not_acceptable', { expected: 'text/event-stream' });
  }
}
