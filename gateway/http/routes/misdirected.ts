import type { IncomingMessage, ServerResponse } from 'node:http';
import { asGatewayError, GatewayError } from '../../errors.js';
import type { Authenticate, Identity } from '../../ports/identity.js';
import type { Server } from '../../relay/server.js';
import { refuseUnread } from '../id-of-refused.js';
import { refusePages } from '../origin/browser-request.js';

interface MisdirectedDeps {
  servers: ReadonlyMap<string, Server>;
  authenticate: Authenticate;
  /** Called for requests to an unknown server. */
  refused: (error: GatewayError, request: IncomingMessage) => void;
}

/** Most servers whose paths an error lists. */
const MAX_TOLD = 10;

/** Ends of URLs that other servers have, and what is left of Wharf's own when it is copied in part. */
const OTHER_ENDS = /^\/(?:([^/?]+)(?:\/(?:mcp|sse))?)?\/?(?:\?|$)/i;
const ONLY_END = /^\/(?:mcp|sse)?\/?(?:\?|$)/i;

/**
 * A path without a server: an authenticated caller is told which servers there are. Any other one gets the answer that it
 * gets at a server, to the byte, and cannot find out by trying names which of them exist.
 */
export async function misdirected(
  { servers, authenticate, refused }: MisdirectedDeps,
  name: string | undefined,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const why = async () => {
    const paths = told(servers, await admit(authenticate, request));
    if (name === undefined) return new GatewayError('route_unknown', paths.length > 0 ? { paths } : {});
    return new GatewayError('server_unknown', { server: name, ...(paths.length > 0 && { paths }) });
  };
  await refuseWith(refused, request, response, why);
}

/** Refuses a stranger as a server does, which looks for pages first. */
async function admit(authenticate: Authenticate, request: IncomingMessage): Promise<Identity> {
  try {
    return await authenticate(request);
  } catch (error) {
    refusePages(request.method, request.headers);
    throw error;
  }
}

/**
 * Answers a client that was given a URL beside an MCP endpoint, such as `/`, `/NAME`, `/NAME/mcp/` or `/sse`: an
 * authenticated caller is told the path that was meant. A caller without credentials gets 404, not 401: a login would not
 * help it.
 * @returns false for other paths
 */
export function beside(deps: MisdirectedDeps, request: IncomingMessage, response: ServerResponse): boolean {
  const { servers, authenticate, refused } = deps;
  const target = request.url ?? '';
  const asks = request.method === 'POST' || request.headers.accept?.includes('text/event-stream') === true;
  if (!asks || !OTHER_ENDS.test(target)) return false;
  const name = ONLY_END.test(target) ? undefined : OTHER_ENDS.exec(target)?.[1]?.toLowerCase();
  if (name !== undefined && !servers.has(name)) return false;
  void refuseWith(refused, request, response, async () => {
    try {
      const paths = told(servers, await authenticate(request), name);
      return new GatewayError('route_unknown', paths.length > 0 ? { paths } : {});
    } catch (error) {
      // a wrong key is told, and logged, as everywhere
      if (request.headers.authorization !== undefined) throw error;
      return new GatewayError('route_unknown');
    }
  });
  return true;
}

/** Paths of the servers that a caller may use. @param only of this one */
function told(servers: ReadonlyMap<string, Server>, identity: Identity, only?: string): string[] {
  const names = [...servers.values()].filter((one) => one.reach(identity).allowed).map((one) => one.name);
  const meant = only === undefined ? names : names.filter((one) => one === only);
  const paths = meant.slice(0, MAX_TOLD).map((server) => `/${server}/mcp`);
  if (meant.length > MAX_TOLD) paths.push(`and ${meant.length - MAX_TOLD} more`);
  return paths;
}

async function refuseWith(
  refused: MisdirectedDeps['refused'],
  request: IncomingMessage,
  response: ServerResponse,
  why: () => Promise<GatewayError>,
): Promise<void> {
  const error = await why().catch(asGatewayError);
  refused(error, request);
  await refuseUnread(request, response, error);
}
