import { createHash, timingSafeEqual } from 'node:crypto';
import { GatewayError } from '../errors.js';
import type { Authenticate, Identity } from '../ports/identity.js';
import { ANONYMOUS } from './identities.js';

/** The callers that are allowed: the config's `auth`. */
export type Auth =
  | { use: 'none' }
  /** `digest`: SHA-256 of the key, 32 bytes. */
  | { use: 'apiKeys'; keys: readonly { name: string; digest: Buffer }[] };

/** The scheme is case-insensitive (RFC 9110 §11.1). */
const BEARER = /^bearer +([\x21-\x7e]{1,512})$/i;

/**
 * Makes the function that finds out who sends a request. It compares every key, in constant time, so that its timing
 * reveals neither how much of a guess was right nor which key it resembled.
 */
export function createAuthenticator(auth: Auth): Authenticate {
  if (auth.use === 'none') return () => ANONYMOUS;
  const keys = auth.keys.map(({ name, digest }) => ({ digest, identity: identityOfKey(name) }));
  return ({ headers }) => {
    const key = BEARER.exec(headers.authorization ?? '')?.[1];
    const digest = createHash('sha256')
      .update(key ?? '')
      .digest();
    let identity: Identity | undefined;
    for (const candidate of keys) if (timingSafeEqual(candidate.digest, digest)) identity = candidate.identity;
    if (key === undefined || identity === undefined) throw new GatewayError('unauthorized');
    return identity;
  };
}

function identityOfKey(name: string): Identity {
  return Object.freeze({ principal: name, use: 'apiKeys', key: name, groups: [], scopes: [] });
}
