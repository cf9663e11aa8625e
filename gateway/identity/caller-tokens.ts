import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { GatewayError } from '../errors.js';
import { type ScopeRules, widened } from '../policy/scopes.js';
import type { Clock } from '../ports/clock.js';
import type { Identity } from '../ports/identity.js';
import type { TokenFault, TokenVerifier, VerifiedToken } from '../ports/oauth.js';
import { loginOf } from './token-login.js';

/** Verified tokens kept, some 3 kB each, and eight bytes for each group. */
const MOST_KEPT = 10_000;

/** Names of groups that are remembered for the next tokens, some hundred bytes each; then it begins anew. */
const MOST_NAMES = 10_000;

/** Characters of a principal's own name; longer ones would be in every record and log line. */
const LONGEST_NAME = 256;

/**
 * What a name may not hold: controls, ends of lines, halves of characters (which all become one in a key), and what hides
 * or turns around, by which one name would look like another to an operator.
 */
const DECEIVING =
  /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u{fff9}-\u{fffb}]|(?!\p{Join_Control}|\p{Variation_Selector})\p{Default_Ignorable_Code_Point}/u;

/** Joiners and variants are parts of names in some scripts, and of emoji; behind the letters of others they only hide. */
const IDLE_VARIANT =
  /(?:^|[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Nd}\s!-/:-@[-`{-~])[\p{Join_Control}\p{Variation_Selector}]/u;

/** Groups of one caller; Entra ID itself gives no more than 200. */
const MOST_GROUPS = 1000;

interface TokenSettings {
  /** Audiences of an issuer that cannot name Wharf's own resources, by issuer. */
  audiences: ReadonlyMap<string, readonly string[]>;
  /** The claim that names the caller. */
  principal: string;
  /** The claim that lists its groups. */
  groups: string;
  implies: ScopeRules;
  /** Bytes. */
  maxTokenBytes: number;
}

/** A caller's valid token, and the caller that it names. */
export interface KnownToken {
  readonly identity: Identity;
  readonly verified: VerifiedToken;
}

/** Public texts of the reasons: nothing of the token is repeated. They are used inside quotes. */
const REASONS: Readonly<Record<TokenFault, string>> = {
  malformed: 'the token is not a signed JWT',
  type: 'the token is not an access token',
  algorithm: 'the algorithm of the token is not allowed here',
  critical: 'the token has extensions that are not supported',
  issuer: 'the token is from an issuer that is not trusted here',
  key: 'the key of the token is not one of its issuer',
  signature: 'the signature of the token is wrong',
  expired: 'the token has expired',
  early: 'the token is not valid yet',
  claims: 'a claim of the token is missing or wrong',
  bound: 'the token is bound to a key, which is not supported here',
};

/** Whether a token is refused for its age alone: all else of it has been found to hold. */
export function isOnlyExpired({ code, facts }: GatewayError): boolean {
  return code === 'unauthorized' && facts.reason === REASONS.expired;
}

/** The refusal of a token whose time is over. */
export function expired(): GatewayError {
  return refused(REASONS.expired);
}

/** Verifies callers' tokens, and remembers the valid ones until they expire. */
export class CallerTokens {
  readonly #verifier: TokenVerifier;
  readonly #settings: TokenSettings;
  readonly #clock: Clock;
  /** By SHA-256, so that no token is in memory longer than its request. */
  readonly #known = new LRUCache<string, KnownToken>({ max: MOST_KEPT });
  /** Each token spells its groups anew: with 200 of them, most of its memory would be names that others have too. */
  readonly #names = new Map<string, string>();

  constructor(verifier: TokenVerifier, settings: TokenSettings, clock: Clock) {
    this.#verifier = verifier;
    this.#settings = settings;
    this.#clock = clock;
  }

  /**
   * The token, if it is a known one, without a promise.
   * @throws GatewayError `unauthorized`, `keys_unavailable`
   */
  read(token: string): KnownToken | Promise<KnownToken> {
    if (token.length > this.#settings.maxTokenBytes) throw refused('the token is too long');
    const hash = createHash('sha256').update(token).digest('base64');
    const known = this.#known.get(hash);
    if (known?.verified.isCurrent() && this.#clock.now() < known.verified.until) {
      // the bytes are those of this request; only what they say has been kept
      return known;
    }
    return this.#verify(token, hash);
  }

  /** @throws GatewayError `unauthorized` unless the token is for one of these resources */
  checkAudience({ verified }: KnownToken, resources: readonly string[]): void {
    const others = this.#settings.audiences.get(verified.issuer) ?? [];
    const isMeant = verified.audiences.some((one) => resources.includes(one) || others.includes(one));
    if (!isMeant) throw refused('the token is for another resource');
  }

  async #verify(token: string, hash: string): Promise<KnownToken> {
    this.#known.delete(hash);
    const found = await this.#verifier.verify(token);
    if ('fault' in found) throw refused(REASONS[found.fault]);
    const verified = { ...found, claims: this.#withSharedNames(found.claims) };
    const known = { verified, identity: this.#identityOf(verified, hash) };
    this.#known.set(hash, known);
    return known;
  }

  /** The claims, with each group as the string that other tokens have. */
  #withSharedNames(claims: VerifiedToken['claims']): VerifiedToken['claims'] {
    const { groups } = this.#settings;
    const listed = claims[groups];
    return Array.isArray(listed) ? { ...claims, [groups]: listed.map((name) => this.#shared(name)) } : claims;
  }

  #shared(name: unknown): unknown {
    if (typeof name !== 'string' || name.length > LONGEST_NAME) return name;
    const known = this.#names.get(name);
    if (known !== undefined) return known;
    if (this.#names.size >= MOST_NAMES) this.#names.clear();
    this.#names.set(name, name);
    return name;
  }

  #identityOf({ issuer, claims: all }: VerifiedToken, hash: string): Identity {
    const { principal, groups, implies } = this.#settings;
    const claims = withoutUnverified(all);
    const name = claims[principal];
    // it becomes a part of keys and log lines
    if (typeof name !== 'string' || name === '' || name.length > LONGEST_NAME || isDeceiving(name))
      throw refused('the token does not name its caller');
    const scopes = widened(wordsOf(claims.scope ?? claims.scp), implies);
    // the name of a group may hold blanks
    const listed = [claims[groups]]
      .flat()
      .filter((one): one is string => typeof one === 'string')
      .slice(0, MOST_GROUPS);
    const login = loginOf(issuer, claims, hash);
    return Object.freeze({ principal: `${issuer}|${name}`, use: 'jwt', groups: listed, scopes, claims, login });
  }
}

/**
 * A person may write any address at some issuers: one of which the issuer says that it has not verified it
 * (`email_verified`, OpenID Connect Core §5.1) names no caller, and fits no rule.
 */
function withoutUnverified(claims: VerifiedToken['claims']): VerifiedToken['claims'] {
  const isUnverified = (name: string) => [false, 'false'].some((no) => no === claims[`${name}_verified`]);
  const entries = Object.entries(claims);
  return entries.some(([name]) => isUnverified(name))
    ? Object.fromEntries(entries.filter(([name]) => !isUnverified(name)))
    : claims;
}

function isDeceiving(name: string): boolean {
  return DECEIVING.test(name) || IDLE_VARIANT.test(name);
}

/** A list of strings, or words between blanks: `scope` is a text (RFC 9068 §2.2.3), some issuers write `scp` as a list. */
function wordsOf(claim: unknown): string[] {
  if (Array.isArray(claim)) return claim.filter((one): one is string => typeof one === 'string');
  return typeof claim === 'string' ? claim.split(' ').filter((one) => one !== '') : [];
}

function refused(reason: string): GatewayError {
  return new GatewayError('unauthorized', { reason });
}
