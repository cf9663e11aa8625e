import type { IncomingMessage, ServerResponse } from 'node:http';

const LOCAL = new Set(['localhost', '127.0.0.1', '[::1]']);

function isLocal(url: string): boolean {
  return URL.canParse(url) && LOCAL.has(new URL(url).hostname);
}

/**
 * Answers 403 and returns true when `Host` or `Origin` names another machine:
 * a page whose name was rebound to 127.0.0.1 would otherwise reach the server.
 */
export function refuseForeign(request: IncomingMessage, response: ServerResponse): boolean {
  const { host, origin } = request.headers;
  if (isLocal(`http://${host}`) && (origin === undefined || isLocal(origin))) return false;
  const error = { code: -32000, message: 'Forbidden Host or Origin' };
  response.writeHead(403, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ jsonrpc: '2.0', error, id: null }));
  return true;
}
