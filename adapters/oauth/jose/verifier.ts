import {
  createLocalJWKSet,
  decodeJwt,
  decodeProtectedHeader,
  errors,
  type JWSHeaderParameters,
  type JWTVerifyGetKey,
  type JWTVerifyOptions,
  type JWTVerifyResult,
  jwtVerify,
} from 'jose';
import { GatewayError } from '../../../gateway/errors.js';
import type { Clock } from '../../../gateway/ports/clock.js';
import type {
  IssuerState,
  TokenFault,
  TokenRules,
  TokenVerifier,
  VerifiedToken,
} from '../../../gateway/ports/oauth.js';
import type { IssuerKeys, KeySet } from './issuer-keys.js';

/** Header types of access tokens: RFC 9068's, and what issuers write that know no other. */
const TYPES = { 'at+jwt': ['at+jwt'], any: ['at+jwt', 'jwt'] } as const;

/** RFC 7515 §7.1: three parts in base64url, of which the last may not be empty. */
const COMPACT = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/** What is wrong with a token of an issuer's new key: it is not known yet, or has the name of the old one, or none as that had. */
const MAY_BE_OF_NEW_KEY: ReadonlySet<TokenFault> = new Set(['key', 'signature']);

/**
 * Keys of one issuer that are tried for a token, where several fit it: an issuer that gives its keys no names, or all the
 * same one, shows the old and the new one for a while. More would make a forged token too dear.
 */
const MOST_TRIED = 8;

/** Checks access tokens by the keys of their issuers. */
export class JoseVerifier implements TokenVerifier {
  readonly #rules: TokenRules;
  readonly #issuers: ReadonlyMap<string, IssuerKeys>;
  readonly #clock: Clock;
  readonly #finders = new WeakMap<KeySet, JWTVerifyGetKey>();

  constructor(rules: TokenRules, issuers: readonly IssuerKeys[], clock: Clock) {
    this.#rules = rules;
    this.#issuers = new Map(issuers.map((keys) => [keys.issuer.issuer, keys]));
    this.#clock = clock;
  }

  get issuers(): IssuerState[] {
    return [...this.#issuers.values()].map((keys) => ({
      issuer: keys.issuer.issuer,
      check: async () => {
        if (!keys.current) await keys.refresh();
        const reason = 'its keys cannot be had, so no token of it is taken; the log says why';
        if (!keys.current) throw new GatewayError('keys_unavailable', { issuer: keys.issuer.issuer, reason });
      },
    }));
  }

  async prepare(): Promise<void> {
    await Promise.all([...this.#issuers.values()].map((keys) => keys.refresh()));
  }

  async verify(token: string): Promise<VerifiedToken | { fault: TokenFault }> {
    const read = this.#read(token);
    if ('fault' in read) return read;
    const { keys } = read;
    let set = keys.current;
    if (!set) {
      await keys.refresh();
      set = keys.current;
    }
    if (!set) throw unavailable(keys);
    let outcome = await this.#verifyWith(set, token, keys);
    if ('fault' in outcome && MAY_BE_OF_NEW_KEY.has(outcome.fault)) {
      await keys.lookForNew();
      const newer = keys.current;
      if (!newer) throw unavailable(keys);
      if (newer !== set) outcome = await this.#verifyWith(newer, token, keys);
    }
    return outcome;
  }

  /** What a token says of itself, before any of it is believed: it only chooses the keys. */
  #read(token: string): { keys: IssuerKeys } | { fault: TokenFault } {
    if (!COMPACT.test(token)) return { fault: 'malformed' };
    let header: JWSHeaderParameters;
    let issuer: unknown;
    try {
      header = decodeProtectedHeader(token);
      issuer = decodeJwt(token).iss;
    } catch {
      return { fault: 'malformed' };
    }
    if (header.crit !== undefined || header.b64 !== undefined) return { fault: 'critical' };
    if (!this.#isType(header.typ)) return { fault: 'type' };
    const keys = typeof issuer === 'string' ? this.#issuers.get(issuer) : undefined;
    if (!keys) return { fault: 'issuer' };
    if (!keys.issuer.algorithms.includes(header.alg ?? '')) return { fault: 'algorithm' };
    return { keys };
  }

  /** @param type as the header has it, which is any JSON value */
  #isType(type: unknown): boolean {
    const { typ } = this.#rules;
    if (type === undefined) return typ === 'any';
    const name = typeof type === 'string' ? type.toLowerCase().replace(/^application\//, '') : undefined;
    return TYPES[typ].some((one) => one === name);
  }

  async #verifyWith(set: KeySet, token: string, keys: IssuerKeys): Promise<VerifiedToken | { fault: TokenFault }> {
    const { issuer, algorithms } = keys.issuer;
    const tolerance = this.#rules.clockTolerance;
    const now = this.#clock.now();
    try {
      const { payload } = await verifyByOneOf(token, this.#finder(set), {
        issuer,
        algorithms: [...algorithms],
        requiredClaims: ['exp', 'aud'],
        clockTolerance: tolerance / 1000,
        currentDate: new Date(now),
      });
      const { iat, exp = 0, aud, cnf } = payload;
      // RFC 9449 §7.1, RFC 8705 §3: who presents such a token must prove that it has the key, and Wharf cannot ask
      if (cnf !== undefined) return { fault: 'bound' };
      if (iat !== undefined && iat * 1000 > now + tolerance) return { fault: 'early' };
      const audiences = [aud].flat().filter((one): one is string => typeof one === 'string');
      const until = exp * 1000 + tolerance;
      return { issuer, claims: payload, audiences, until, isCurrent: () => keys.current === set };
    } catch (error) {
      return { fault: faultOf(error) };
    }
  }

  /** Keys are imported once for each answer of the issuer. */
  #finder(set: KeySet): JWTVerifyGetKey {
    let finder = this.#finders.get(set);
    if (!finder) {
      finder = createLocalJWKSet({ keys: set.keys.map((key) => ({ ...key })) });
      this.#finders.set(set, finder);
    }
    return finder;
  }
}

function unavailable({ issuer: { issuer } }: IssuerKeys): GatewayError {
  return new GatewayError('keys_unavailable', { issuer });
}

/** @throws the errors of jwtVerify */
async function verifyByOneOf(
  token: string,
  finder: JWTVerifyGetKey,
  options: JWTVerifyOptions,
): Promise<JWTVerifyResult> {
  try {
    return await jwtVerify(token, finder, options);
  } catch (several) {
    if (!(several instanceof errors.JWKSMultipleMatchingKeys)) throw several;
    let tried = 0;
    for await (const key of several) {
      tried += 1;
      if (tried > MOST_TRIED) throw several;
      try {
        return await jwtVerify(token, key, options);
      } catch (error) {
        if (!(error instanceof errors.JWSSignatureVerificationFailed || isOfKey(error))) throw error;
      }
    }
    throw new errors.JWSSignatureVerificationFailed();
  }
}

function faultOf(error: unknown): TokenFault {
  if (error instanceof errors.JWTExpired) return 'expired';
  if (error instanceof errors.JWTClaimValidationFailed) {
    if (error.claim === 'nbf' && error.reason === 'check_failed') return 'early';
    return error.claim === 'iss' ? 'issuer' : 'claims';
  }
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'signature';
  if (error instanceof errors.JOSEAlgNotAllowed) return 'algorithm';
  // where too many keys fit a token that names none, its issuer must name them
  if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys) return 'key';
  return isOfKey(error) ? 'key' : 'malformed';
}

/** An issuer's key that cannot be used, such as half a one: what is wrong with a token is an error of jose's own. */
function isOfKey(error: unknown): boolean {
  return !(error instanceof errors.JOSEError);
}
