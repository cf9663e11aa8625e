import { GatewayError } from '../errors.js';
import type { CredentialRequest } from '../ports/identity.js';

/** The header of a Wharf key, for requests whose `Authorization` is meant for the server behind. */
export const KEY_HEADER = 'x-wharf-key';

/** The scheme is case-insensitive (RFC 9110 §11.1). */
const BEARER = /^bearer +([\x21-\x7e]+)$/i;
const DPOP = /^dpop(?: |$)/i;

/** RFC 6750 §2.2 and §2.3 are parameters of this name; OAuth 2.1 §5.1.1 forbids the second. */
const TOKEN_IN_QUERY = /[?&]access_token=/i;

/** JSON in base64url between dots: an API key is never taken for a token, nor a token for a key. */
const TOKEN = /^eyJ[\w-]*\.[\w-]*\.[\w-]*$/;

/**
 * The bearer of a request; undefined without one.
 * @throws GatewayError `credentials_invalid` for what two programs could read in two ways, or what every log holds;
 * `unauthorized` for a scheme that would prove more than Wharf can check
 */
export function bearerOf({ headers, rawHeaders, url = '' }: CredentialRequest): string | undefined {
  if (TOKEN_IN_QUERY.test(url)) {
    throw new GatewayError('credentials_invalid', {
      reason: 'a token belongs in the Authorization header, not in the address',
    });
  }
  const { authorization } = headers;
  if (authorization === undefined) return undefined;
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) if (isAuthorization(rawHeaders[at])) count += 1;
  if (count > 1) {
    throw new GatewayError('credentials_invalid', { reason: 'the request has more than one Authorization header' });
  }
  if (DPOP.test(authorization)) {
    throw new GatewayError('unauthorized', { reason: 'DPoP is not supported here, send the token as a Bearer' });
  }
  return BEARER.exec(authorization)?.[1];
}

/** Whether a bearer has the form of a token of an issuer: a key of Wharf never has it. */
export function isToken(bearer: string): boolean {
  return TOKEN.test(bearer);
}

function isAuthorization(name = ''): boolean {
  return name.length === 13 && name.toLowerCase() === 'authorization';
}
