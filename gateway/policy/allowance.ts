import type { CallerMatch, KnownCaller } from './callers.js';
import { MESSAGE_LIMITS, type MessageLimits, TYPE_LIMITS, type TypeLimit, type TypeRules } from './message-limits.js';
import { rulesAbout } from './rules-about.js';

/** What one caller may use over all its requests. Each is absent where nothing limits it. */
interface CallerAmounts {
  /** Requests under way at one time, on each replica. */
  exchanges: number;
  /** Requests within a minute, over all replicas. */
  requestsPerMinute: number;
  /** Uploads by links under way at one time, on each replica. */
  uploads: number;
  /** Sessions at one time, on each replica. */
  sessions: number;
  /** Processes of stdio servers that run for it, over all of them, on each replica. */
  processes: number;
  /** Files that are stored for it within 24 hours. */
  filesPerDay: number;
  /** Bytes of them. */
  bytesPerDay: number;
  /** Bytes of all files that are kept for it. */
  storedBytes: number;
}

/**
 * The limits of one caller: those over all its requests, and those of each of its messages, which can only be lower than
 * the server's. The names are the config's; an error caused by one names it as `limits.<name>`.
 */
export interface CallerLimits extends CallerAmounts, MessageLimits {}

/** The name of one of them. */
export type CallerLimit = keyof CallerLimits;

/** Those of `limits` that are about a single caller in any case. */
export const OWN_AMOUNTS = [
  'exchanges',
  'requestsPerMinute',
  'uploads',
  'filesPerDay',
  'bytesPerDay',
  'storedBytes',
] as const satisfies readonly CallerLimit[];

/** All of them, those of single messages last. */
export const CALLER_LIMITS: readonly CallerLimit[] = [
  'exchanges',
  'requestsPerMinute',
  'uploads',
  'sessions',
  'processes',
  'filesPerDay',
  'bytesPerDay',
  'storedBytes',
  ...MESSAGE_LIMITS,
];

/** Limits of callers, as one place in the config sets them. */
export interface CallerSettings extends Partial<CallerLimits>, Partial<Record<TypeLimit, readonly string[]>> {}

/** Where a limit is set. */
export interface AllowanceRules {
  /** `ceiling`: nothing raises a limit above it. */
  readonly ceiling: CallerSettings;
  /** `limits`: of every caller. */
  readonly base: CallerSettings;
  /** `callers`, in order. */
  readonly callers: readonly { readonly match: CallerMatch; readonly limits: CallerSettings }[];
  /** `auth.keys[].limits` of every key, by its name. */
  readonly keys: ReadonlyMap<string, CallerSettings>;
}

/** A limit, and the place in the config that sets it. */
export interface SetLimit {
  readonly value: number;
  readonly source: string;
  /** What the source would allow without the ceiling. */
  readonly lowered?: SetLimit;
}

/** What one caller may use, each limit with its source; absent: not limited. */
export type Allowance = {
  readonly [Name in CallerLimit]?: SetLimit;
} & TypeRules;

/** What a caller may use: of each limit the most specific setting counts, under the ceiling. */
export function allowanceOf(rules: AllowanceRules, caller: KnownCaller): Allowance {
  const found: { -readonly [Name in keyof Allowance]: Allowance[Name] } = {};
  const { ceiling } = rules;
  for (const name of CALLER_LIMITS) {
    const limit = lowerOf(placeOf(name, rules, caller), ceiling[name], name);
    if (limit) found[name] = limit;
  }
  for (const name of TYPE_LIMITS) {
    const own = placeOf(name, rules, caller);
    const lists = [...(own ? [{ types: own.value, source: own.source }] : []), ...typesOf(ceiling, name)];
    if (lists.length > 0) found[name] = lists;
  }
  return found;
}

/** The media types that the ceiling allows, as a list of one rule, or none. */
function typesOf(ceiling: CallerSettings, name: TypeLimit) {
  const types = ceiling[name];
  return types ? [{ types, source: `ceiling.${name}` }] : [];
}

/** An allowance that was found under other rules, under the ceiling of these. */
export function underCeiling(allowance: Allowance, { ceiling }: Pick<AllowanceRules, 'ceiling'>): Allowance {
  const found: { -readonly [Name in keyof Allowance]: Allowance[Name] } = { ...allowance };
  for (const name of CALLER_LIMITS) {
    const limit = lowerOf(allowance[name], ceiling[name], name);
    if (limit) found[name] = limit;
  }
  for (const name of TYPE_LIMITS) {
    const own = (allowance[name] ?? []).filter(({ source }) => source !== `ceiling.${name}`);
    const lists = [...own, ...typesOf(ceiling, name)];
    if (lists.length > 0) found[name] = lists;
    else delete found[name];
  }
  return found;
}

/** True when no caller is limited at all. */
export function isUnlimited({ ceiling, base, callers, keys }: AllowanceRules): boolean {
  return [ceiling, base, ...callers.map(({ limits }) => limits), ...keys.values()].every(
    (limits) => Object.keys(limits).length === 0,
  );
}

/** True when some callers have limits of their own for each message, or for the files in it. */
export function limitsMessages({ ceiling, base, callers, keys }: AllowanceRules): boolean {
  const names = [...MESSAGE_LIMITS, ...TYPE_LIMITS] as const;
  return [ceiling, base, ...callers.map(({ limits }) => limits), ...keys.values()].some((limits) =>
    names.some((name) => limits[name] !== undefined),
  );
}

/** A limit under the ceiling. @param most the ceiling */
export function lowerOf<Set extends SetLimit>(
  set: Set | undefined,
  most: number | undefined,
  name: CallerLimit,
): Set | SetLimit | undefined {
  if (most === undefined || (set && set.value <= most)) return set;
  return { value: most, source: `ceiling.${name}`, ...(set && { lowered: set }) };
}

/** The most specific place that sets a limit, and its value there. */
function placeOf<Name extends keyof CallerSettings>(
  name: Name,
  rules: AllowanceRules,
  caller: KnownCaller,
): Place<Name> | undefined {
  return placesOf(name, rules, caller).next().value ?? undefined;
}

interface Place<Name extends keyof CallerSettings> {
  readonly value: NonNullable<CallerSettings[Name]>;
  readonly source: string;
}

/** The places that set a limit of a caller. Only the first counts. */
export function* placesOf<Name extends keyof CallerSettings>(
  name: Name,
  { base, callers, keys }: AllowanceRules,
  caller: KnownCaller,
): Generator<Place<Name>, void> {
  const ofKey = caller.key === undefined ? undefined : keys.get(caller.key)?.[name];
  if (ofKey !== undefined) yield { value: ofKey, source: `auth.keys, ${caller.key}: limits.${name}` };
  for (const index of rulesAbout(callers, caller, ({ match }) => match)) {
    const ofCaller = callers[index]?.limits[name];
    if (ofCaller !== undefined) yield { value: ofCaller, source: `callers[${index}].limits.${name}` };
  }
  const value = base[name];
  if (value !== undefined) yield { value, source: `limits.${name}` };
}
