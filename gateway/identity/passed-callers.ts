import type { Authenticate, Identity } from '../ports/identity.js';
import { bearerOf } from './bearer.js';

/** Callers without a token: some servers show their tools to everyone. */
const NAMELESS: Identity = Object.freeze({ principal: 'anonymous', use: 'passthrough', groups: [], scopes: [] });

/**
 * Makes the function that tells callers apart by their tokens, of which the server alone is the judge. A token is
 * nothing that a log or a store may hold.
 * @param nameOf a token's name, which its holder alone can cause
 */
export function createPassing(nameOf: (token: string) => string): Authenticate {
  return (request) => {
    const token = bearerOf(request);
    if (token === undefined) return NAMELESS;
    return { principal: `token:${nameOf(token)}`, use: 'passthrough', groups: [], scopes: [], token };
  };
}
