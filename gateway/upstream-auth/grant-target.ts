import { createHash } from 'node:crypto';
import type { ClientSettings } from '../ports/oauth.js';

/** What a token is for, as the config says it. */
interface Wanted {
  scope?: string | undefined;
  resource?: string | undefined;
  audience?: string | undefined;
}

/** A server, and what tokens for it are for. */
export interface GrantTarget extends Wanted {
  server: string;
  /**
   * Digest of all settings that decide for whom and for what its tokens are good. They are kept under it, so none is sent
   * under settings by which it was not given.
   */
  settings: string;
}

/**
 * The target of one kind of grant. Its digest does not depend on secrets, nor on the order of scopes: what was given
 * under an old secret is as good under a new one.
 * @param introducedAs who Wharf is where the settings have no `clientId`
 */
export function grantTarget(
  kind: 'clientCredentials' | 'tokenExchange' | 'perUser',
  server: string,
  settings: ClientSettings & Wanted,
  introducedAs = '',
): GrantTarget {
  const { issuer, tokenUrl, clientId, scope, resource, audience } = settings;
  const client = clientId === undefined ? { introducedAs } : { clientId };
  const scopes = scope === undefined ? undefined : [...new Set(scope.split(' '))].filter((one) => one !== '').sort();
  const decisive = JSON.stringify({ kind, issuer, tokenUrl, client, scopes, resource, audience });
  return {
    server,
    scope,
    resource,
    audience,
    settings: createHash('sha256').update(decisive).digest('base64url'),
  };
}

/** What the token is for, as parameters of a grant. */
export function parametersOf({ scope, resource, audience }: Wanted): Record<string, string> {
  return {
    ...(scope !== undefined && { scope }),
    ...(resource !== undefined && { resource }),
    ...(audience !== undefined && { audience }),
  };
}
