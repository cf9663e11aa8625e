import { GatewayError } from '../../../gateway/errors.js';

/**
 * What a server that answers 401 or 403 refuses: the operator's credentials, or that there are none. Its challenge is
 * for Wharf and not for the client, whose own Authorization never gets there: sent on, it would begin a login that
 * cannot end.
 * @param configured the names of the operator's headers
 */
export function refusedCredentials(
  server: string,
  status: number,
  configured: readonly string[],
): GatewayError | undefined {
  if (status !== 401 && status !== 403) return undefined;
  const setting = `servers.${server}.headers`;
  return new GatewayError('upstream_unauthorized', { server, status, setting, sent: configured.join(', ') });
}
