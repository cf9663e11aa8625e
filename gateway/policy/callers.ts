import { fits } from './pattern.js';

/** What rules ask about a caller: the part of its identity that they read. */
export interface KnownCaller {
  /** Undefined where only a key or a group is known. */
  readonly principal?: string | undefined;
  /** The name of its API key. */
  readonly key?: string | undefined;
  readonly groups: readonly string[];
  readonly claims?: Readonly<Record<string, unknown>> | undefined;
  /** This caller, as the same object in all requests with its credential, so that what is found for it is found once. */
  readonly base?: KnownCaller | undefined;
}

/** The value that a claim must have, or contain if the claim is a list. */
type ClaimValue = string | number | boolean;

/** The callers that a rule means: every given member must match; without any it means every caller. */
export interface CallerMatch {
  /** `*` matches any text, here and in `key` and `group`. */
  readonly principal?: string | undefined;
  readonly key?: string | undefined;
  readonly group?: string | undefined;
  readonly claim?: Readonly<Record<string, ClaimValue>> | undefined;
}

/** True when everything that a match gives fits the caller; an empty one means every caller. */
export function meansCaller(match: CallerMatch, { principal, key, groups, claims }: KnownCaller): boolean {
  const { group, claim } = match;
  return (
    fitsIfGiven(match.principal, principal) &&
    fitsIfGiven(match.key, key) &&
    (group === undefined || groups.some((one) => fits(group, one))) &&
    (claim === undefined || Object.entries(claim).every(([name, value]) => hasValue(ownOf(claims, name), value)))
  );
}

function fitsIfGiven(pattern: string | undefined, name: string | undefined): boolean {
  return pattern === undefined || (name !== undefined && fits(pattern, name));
}

/** A claim called `constructor` must not be found on every object. */
function ownOf(claims: KnownCaller['claims'], name: string): unknown {
  return claims !== undefined && Object.hasOwn(claims, name) ? claims[name] : undefined;
}

function hasValue(claim: unknown, value: ClaimValue): boolean {
  return Array.isArray(claim) ? claim.includes(value) : claim === value;
}
