import { createHash, timingSafeEqual } from 'node:crypto';
import type { Identity } from '../ports/identity.js';

/** `digest`: SHA-256 of the key, 32 bytes. */
export interface ApiKey {
  readonly name: string;
  readonly digest: Buffer;
}

/** A longer bearer is not a key. */
const LONGEST = 512;

/**
 * Makes the function that finds whose key it is. It compares every key, in constant time, so that its timing reveals
 * neither how much of a guess was right nor which key it resembled.
 */
export function createKeyRing(keys: readonly ApiKey[]): (key: string | undefined) => Identity | undefined {
  const known = keys.map(({ name, digest }) => ({ digest, identity: identityOfKey(name) }));
  return (key) => {
    const digest = createHash('sha256')
      .update(key ?? '')
      .digest();
    let identity: Identity | undefined;
    for (const candidate of known) if (timingSafeEqual(candidate.digest, digest)) identity = candidate.identity;
    return key === undefined || key.length > LONGEST ? undefined : identity;
  };
}

function identityOfKey(name: string): Identity {
  return Object.freeze({ principal: name, use: 'apiKeys', key: name, groups: [], scopes: [] });
}
