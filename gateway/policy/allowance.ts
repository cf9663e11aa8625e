import { type CallerMatch, type KnownCaller, meansCaller } from './callers.js';

/**
 * What one caller may use, over all its requests. Each is absent where nothing limits it. The names are the config's;
 * an error caused by one names it as `limits.<name>`.
 */
export interface CallerLimits {
  /** Requests under way at one time, on each replica. */
  exchanges: number;
  /** Requests within a minute, over all replicas. */
  requestsPerMinute: number;
  /** Uploads by links under way at one time, on each replica. */
  uploads: number;
  /** Size of a single file of its own, whichever way it comes. */
  file: number;
  /** Files that are stored for it within 24 hours. */
  filesPerDay: number;
  /** Bytes of them. */
  bytesPerDay: number;
  /** Bytes of all files that are kept for it. */
  storedBytes: number;
}

export type CallerLimit = keyof CallerLimits;

export const CALLER_LIMITS: readonly CallerLimit[] = [
  'exchanges',
  'requestsPerMinute',
  'uploads',
  'file',
  'filesPerDay',
  'bytesPerDay',
  'storedBytes',
];

/** Where a limit is set. */
export interface AllowanceRules {
  /** `ceiling`: nothing raises a limit above it. */
  readonly ceiling: Partial<CallerLimits>;
  /** `limits`: of every caller. */
  readonly base: Partial<CallerLimits>;
  /** `callers`, in order. */
  readonly callers: readonly { readonly match: CallerMatch; readonly limits: Partial<CallerLimits> }[];
  /** `auth.keys[].limits`, by the key's name. */
  readonly keys: ReadonlyMap<string, Partial<CallerLimits>>;
}

/** A limit, and the place in the config that sets it. */
export interface SetLimit {
  readonly value: number;
  readonly source: string;
  /** What the source would allow without the ceiling. */
  readonly lowered?: SetLimit;
}

export type Allowance = { readonly [Name in CallerLimit]?: SetLimit };

/** What a caller may use: of each limit the most specific setting counts, under the ceiling. */
export function allowanceOf(rules: AllowanceRules, caller: KnownCaller): Allowance {
  const found: { [Name in CallerLimit]?: SetLimit } = {};
  for (const name of CALLER_LIMITS) {
    const set = settingOf(name, rules, caller);
    const most = rules.ceiling[name];
    const limit = most === undefined || (set && set.value <= most) ? set : under(most, name, set);
    if (limit) found[name] = limit;
  }
  return found;
}

/** True when no caller is limited at all. */
export function isUnlimited({ ceiling, base, callers, keys }: AllowanceRules): boolean {
  return [ceiling, base, ...callers.map(({ limits }) => limits), ...keys.values()].every(
    (limits) => Object.keys(limits).length === 0,
  );
}

function under(value: number, name: CallerLimit, set: SetLimit | undefined): SetLimit {
  return { value, source: `ceiling.${name}`, ...(set && { lowered: set }) };
}

function settingOf(
  name: CallerLimit,
  { base, callers, keys }: AllowanceRules,
  caller: KnownCaller,
): SetLimit | undefined {
  const ofKey = caller.key === undefined ? undefined : keys.get(caller.key)?.[name];
  if (ofKey !== undefined) return { value: ofKey, source: `auth.keys, ${caller.key}: limits.${name}` };
  const index = callers.findIndex(({ match, limits }) => limits[name] !== undefined && meansCaller(match, caller));
  const ofCaller = callers[index]?.limits[name];
  if (ofCaller !== undefined) return { value: ofCaller, source: `callers[${index}].limits.${name}` };
  const value = base[name];
  return value === undefined ? undefined : { value, source: `limits.${name}` };
}
