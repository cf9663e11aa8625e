import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { GatewayError } from '../errors.js';

/** The callers that are allowed: the config's `auth`. */
export type Auth =
  | { use: 'none' }
  /** `digest`: SHA-256 of the key, 32 bytes. */
  | { use: 'apiKeys'; keys: readonly { name: string; digest: Buffer }[] };

/** Under `auth: none` all callers are one, and over stdio the caller is this one too. */
export const ANONYMOUS = 'anonymous';

/** The scheme is case-insensitive (RFC 9110 §11.1). */
const BEARER = /^bearer +([\x21-\x7e]{1,512})$/i;

/**
 * Makes the function that finds the principal of a request. It compares every key, in constant time, so that its timing
 * reveals neither how much of a guess was right nor which key it resembled.
 * @throws GatewayError `unauthorized`
 */
export function createAuthenticator(auth: Auth): (headers: IncomingHttpHeaders) => string {
  if (auth.use === 'none') return () => ANONYMOUS;
  return (headers) => {
    const key = BEARER.exec(headers.authorization ?? '')?.[1];
    const digest = createHash('sha256')
      .update(key ?? '')
      .digest();
    let principal: string | undefined;
    for (const candidate of auth.keys) if (timingSafeEqual(candidate.digest, digest)) principal = candidate.name;
    if (key === undefined || principal === undefined) throw new GatewayError('unauthorized');
    return principal;
  };
}
