import type { Identity } from '../ports/identity.js';

/** Under `auth: none` all callers are one, and over stdio the caller is this one too. */
export const ANONYMOUS: Identity = Object.freeze({ principal: 'anonymous', use: 'none', groups: [], scopes: [] });

/** The caller of a request that has not been authenticated: it owns nothing. */
export const UNKNOWN: Identity = Object.freeze({ principal: '', use: 'none', groups: [], scopes: [] });

/** A caller that Wharf acts for later, without its credentials. */
export function absentCaller(principal: string): Identity {
  return { principal, use: 'absent', groups: [], scopes: [] };
}

/**
 * A user of the console who tries a tool. No key, token or server can give a caller this principal, because the names of
 * keys have no colon.
 */
export function operatorOf(actor: string): Identity {
  return Object.freeze({ principal: `console:${actor}`, use: 'console', actor, groups: [], scopes: [] });
}
