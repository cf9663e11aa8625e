import type { AuditToken } from '../ports/audit.js';
import { parseJson } from '../wire/json/parse.js';

/** Claims that name the OAuth client: RFC 9068's, OpenID Connect's, and what older issuers write. */
const CLIENT_CLAIMS = ['client_id', 'azp', 'appid'] as const;

/** Characters of a client's or a token's own name: they are kept for as long as the token is. */
const LONGEST = 100;

/** Characters of a token's hash, where it has no name: enough that no two are alike. */
const HASH_LENGTH = 16;

/** Characters of a payload that is read though its signature is unknown. */
const LONGEST_PAYLOAD = 8192;

type Claims = Readonly<Record<string, unknown>>;

/**
 * Which token it is, for the audit log.
 * @param hash of the token, base64
 */
export function loginOf(issuer: string, claims: Claims, hash: string): AuditToken {
  const { jti } = claims;
  return Object.freeze({
    issuer,
    client: clientIn(claims),
    // the beginnings of long names may be alike
    id: isName(jti) ? jti : `sha256:${hash.slice(0, HASH_LENGTH)}`,
  });
}

/** What a refused token says of itself; undefined where that cannot be read. Every stranger can write such a token. */
export function claimedLogin(token: string): AuditToken | undefined {
  const payload = token.split('.', 2)[1] ?? '';
  if (payload.length > LONGEST_PAYLOAD) return undefined;
  try {
    const claims = parseJson(Buffer.from(payload, 'base64url').toString('utf8'));
    if (typeof claims !== 'object' || claims === null) return undefined;
    const { iss } = claims as Claims;
    const issuer = typeof iss === 'string' ? short(iss) : undefined;
    return { issuer, client: clientIn(claims as Claims), claimed: true };
  } catch {
    return undefined;
  }
}

function isName(claim: unknown): claim is string {
  return typeof claim === 'string' && claim !== '' && claim.length <= LONGEST;
}

function clientIn(claims: Claims): string | undefined {
  const name = CLIENT_CLAIMS.map((claim) => claims[claim]).find((one) => typeof one === 'string' && one !== '');
  return name === undefined ? undefined : short(String(name));
}

function short(text: string): string {
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}
