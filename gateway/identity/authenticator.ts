import { GatewayError } from '../errors.js';
import type { Authenticate, CredentialRequest, Identity } from '../ports/identity.js';
import { type ApiKey, createKeyRing } from './api-keys.js';
import { bearerOf, isToken, KEY_HEADER } from './bearer.js';
import { ANONYMOUS } from './identities.js';
import type { TokenAuthenticator } from './token-authenticator.js';

/** The ways in which callers may log in. None of them: all are let in, as one. */
interface WaysIn {
  keys?: readonly ApiKey[] | undefined;
  tokens?: TokenAuthenticator | undefined;
}

/**
 * Makes the function that finds out who sends a request. With both ways in, the form of a credential decides which one
 * judges it, never the failure of the other: a refused token is not tried as a key.
 */
export function createAuthenticator({ keys, tokens }: WaysIn): Authenticate {
  if (!keys && !tokens) return () => ANONYMOUS;
  const ownerOf = createKeyRing(keys ?? []);
  const byKey = (key: string | undefined, request: CredentialRequest, server: string | undefined): Identity => {
    const identity = ownerOf(key);
    if (identity) return identity;
    const takes = keys ? 'tokens and keys' : 'tokens';
    throw tokens ? tokens.missing(request, server, takes) : new GatewayError('unauthorized');
  };
  return (request, server) => {
    const own = request.headers[KEY_HEADER];
    if (keys && own !== undefined) {
      const identity = byKey(typeof own === 'string' ? own : undefined, request, server);
      const { authorization } = request.headers;
      const bearer = bearerOf(request);
      // what stands beside a key of Wharf is meant for the server; a key never is, also where it is written twice
      const isForServer = authorization !== undefined && ownerOf(bearer) === undefined;
      return isForServer ? { ...identity, base: identity, authorization } : identity;
    }
    let bearer: string | undefined;
    try {
      bearer = bearerOf(request);
    } catch (error) {
      throw tokens ? tokens.malformed(error, request, server) : error;
    }
    if (bearer !== undefined && tokens && (!keys || isToken(bearer))) return tokens.admit(bearer, request, server);
    return byKey(bearer, request, server);
  };
}
