import { GatewayError } from '../../../gateway/errors.js';

/** Of a proxy on the way to a server. `fetch` keeps an answer that has it from its caller, and says only that it failed. */
export const OF_PROXY = 407;

/**
 * The error for a server that answers 401, 403 or 407: it refuses the operator's credentials, or their absence. Its
 * challenge is for Wharf, not for the client, whose own Authorization never reaches the server: forwarded, it would
 * begin a login that cannot succeed.
 * @param configured the names of the operator's headers
 */
export function refusedCredentials(
  server: string,
  status: number,
  configured: readonly string[],
): GatewayError | undefined {
  if (status !== 401 && status !== 403 && status !== OF_PROXY) return undefined;
  const setting = `servers.${server}.headers`;
  return new GatewayError('upstream_unauthorized', { server, status, setting, sent: configured.join(', ') });
}
