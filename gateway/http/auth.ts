import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { GatewayError } from '../errors.js';

/** Who may call: the config's `auth`. */
export type Auth =
  | { use: 'none' }
  /** `digest`: SHA-256 of the key, 32 bytes. */
  | { use: 'apiKeys'; keys: readonly { name: string; digest: Buffer }[] };

/** Under `auth: none` all callers are one, and so is whoever speaks to Wharf's own process. */
export const ANYBODY = 'anonymous';

/** The scheme is case-insensitive (RFC 9110 §11.1). */
const BEARER = /^bearer +([\x21-\x7e]{1,512})$/i;

/**
 * The principal of a request. Every key is compared, in constant time, so that the answer's timing tells neither how
 * far a guess was right nor which key it came near to.
 * @throws GatewayError `unauthorized`
 */
export function createAuthenticator(auth: Auth): (headers: IncomingHttpHeaders) => string {
  if (auth.use === 'none') return () => ANYBODY;
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
