import type { GrantConfig, ServerConfig } from '../config/config.js';
import { GatewayError } from '../errors.js';
import type { JsonObject } from '../ports/json.js';
import type { OAuth } from '../ports/oauth.js';
import { type Asking, toolsOf } from './tools.js';

/**
 * Asks a server for its tools like `toolsOf`, with Wharf's own token if it has one there.
 * @throws GatewayError, Refusal
 */
export async function* toolsWithToken(
  server: ServerConfig,
  oauth: () => Promise<OAuth>,
  asking: Asking,
): AsyncGenerator<JsonObject[]> {
  try {
    yield* toolsOf(await withToken(server, oauth), asking);
  } catch (error) {
    if (server.upstreamAuth === undefined || !isRefusal(error) || !(error instanceof GatewayError)) throw error;
    // the setting that it is about, which its headers are not
    throw new GatewayError(error.code, { ...error.facts, setting: `servers.${server.name}.upstreamAuth` }, error.cause);
  }
}

async function withToken(server: ServerConfig, oauth: () => Promise<OAuth>): Promise<ServerConfig> {
  const grant = server.upstreamAuth?.clientCredentials;
  if (!grant) return server;
  const { accessToken } = await (await oauth()).client(grant, server.name).request(clientGrant(grant));
  const headers = { ...Object(server.settings.headers), authorization: `Bearer ${accessToken}` };
  return { ...server, settings: { ...server.settings, headers } };
}

/** The server has refused a request for what it was asked with, and a token of a caller's own would open it. */
export function isForPersons(error: unknown, { upstreamAuth = {} }: ServerConfig): boolean {
  const { tokenExchange, perUser, delegate } = upstreamAuth;
  return isRefusal(error) && (tokenExchange !== undefined || perUser !== undefined || delegate === true);
}

function isRefusal(error: unknown): boolean {
  return hasStatus(error, 401) || hasStatus(error, 403);
}

/** Whether an error is about an answer with this HTTP status. */
export function hasStatus(error: unknown, wanted: number): boolean {
  const { status, facts } = Object(error) as { status?: unknown; facts?: { status?: unknown } };
  return status === wanted || facts?.status === wanted;
}

/** The parameters of a client credentials grant (RFC 6749, 4.4). */
export function clientGrant({ scope, resource, audience }: GrantConfig): Record<string, string> {
  return {
    grant_type: 'client_credentials',
    ...(scope !== undefined && { scope }),
    ...(resource !== undefined && { resource }),
    ...(audience !== undefined && { audience }),
  };
}
