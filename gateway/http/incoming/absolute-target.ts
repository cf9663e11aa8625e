import type { IncomingMessage } from 'node:http';

/** An authority without a user, and what is behind it. */
const ABSOLUTE = /^https?:\/\/([^/?#@]+)(\/[^#]*|\?[^#]*)?$/i;

/**
 * Takes a target in absolute form apart, as clients of a proxy write it and every server must take it. Its host counts in place
 * of the Host header (RFC 9112, section 3.2.2), so all that judges a request finds host and path where they always are.
 */
export function takeApart(request: IncomingMessage): void {
  const { url = '' } = request;
  if (url.startsWith('/')) return;
  const [, host, rest = ''] = ABSOLUTE.exec(url) ?? [];
  if (host === undefined) return;
  request.url = rest.startsWith('/') ? rest : `/${rest}`;
  request.headers.host = host;
}
