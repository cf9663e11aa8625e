import type { CallerMatch } from '../../policy/callers.js';
import { fits, fitsAny } from '../../policy/pattern.js';
import { keyNamesOf } from '../access.js';
import type { Config } from '../config.js';
import type { ConfigProblem, Path } from '../problems.js';
import { brokenRules, type Rule } from './rule.js';

/** One thing that a match asks of callers, and how they are known. */
interface Asked {
  match: CallerMatch;
  member: Member;
  auth: Config['auth'];
  /** Names of the API keys. */
  names: ReadonlySet<string>;
  lacksNames: boolean;
}

/** Whom Wharf lets in. */
export interface WaysIn {
  /** Undefined: a section with problems. */
  auth?: Config['auth'] | undefined;
  /** True where not all names of callers are known, because of a key or an issuer with a problem. */
  lacksNames?: boolean;
}

const MEMBERS = ['key', 'principal', 'group', 'claim'] as const;

type Member = (typeof MEMBERS)[number];

type Use = Config['auth']['use'];

type Table = readonly Rule<Asked>[];

/** What makes up a row about a member under some `auth`. Of the rows about one member at most one is broken. */
interface Row {
  auth: readonly Use[];
  asks: readonly Member[];
  /** Left out: always. */
  when?(asked: Asked): boolean;
  message: Rule<Asked>['message'];
  /** It is about a name, which is shown. */
  isName?: true;
}

/** A match of `servers.X.allow`, `callers` or `flow` that no caller can have. */
const OF_CALLERS = tableOf([
  {
    auth: ['none'],
    asks: MEMBERS,
    // operators who try tools have names all the same
    when: ({ member, match }) => member !== 'principal' || match.principal?.startsWith('console:') !== true,
    message: 'never matches with auth none, where all callers are one',
  },
  {
    auth: ['passthrough'],
    asks: MEMBERS,
    message: 'never matches with auth passthrough, where the server alone knows who calls',
  },
  { auth: ['jwt'], asks: ['key'], message: 'never matches: callers with tokens have none' },
  {
    auth: ['apiKeys', 'both'],
    asks: ['key'],
    when: (asked) => !isNameOfKey(asked),
    message: 'is the name of none of auth.keys',
    isName: true,
  },
  { auth: ['apiKeys'], asks: ['group', 'claim'], message: 'never matches: callers with API keys have none' },
  {
    auth: ['both'],
    asks: ['group', 'claim'],
    when: ({ match }) => match.key !== undefined,
    message: 'never matches beside "key": callers with API keys have none',
  },
  {
    auth: ['apiKeys', 'both'],
    asks: ['principal'],
    when: ({ match: { key, principal = '' }, names }) =>
      key !== undefined && fitsAny(key, names) && !areOneName(key, principal, names),
    message: 'never matches beside "key": a caller with a key has its name',
    isName: true,
  },
  {
    auth: ['apiKeys'],
    asks: ['principal'],
    when: (asked) => asked.match.key === undefined && !mayBePrincipal(asked),
    message: 'is the name of none of auth.keys',
    isName: true,
  },
  {
    auth: ['jwt', 'both'],
    asks: ['principal'],
    when: (asked) => asked.match.key === undefined && !mayBePrincipal(asked),
    message: ({ auth }) =>
      `never matches: a caller with a token is its issuer and its name, as in "${beginningsOf(auth)[0]}ada"`,
    isName: true,
  },
]);

/** A match of `clients`, whose principal is a whole name. */
const OF_CLIENTS = tableOf([
  { auth: ['none'], asks: ['principal'], message: 'never matches with auth none, where all callers are one' },
  {
    auth: ['passthrough'],
    asks: ['principal'],
    message: 'never matches with auth passthrough: callers have no names',
  },
  {
    auth: ['apiKeys'],
    asks: ['principal'],
    when: ({ match: { principal = '' }, names }) => !names.has(principal),
    message: 'is the name of none of auth.keys',
    isName: true,
  },
  {
    auth: ['jwt', 'both'],
    asks: ['principal'],
    when: ({ match: { principal = '' }, auth, names }) =>
      !names.has(principal) && !beginningsOf(auth).some((beginning) => principal.startsWith(beginning)),
    message: 'is neither the name of a key nor ISSUER|NAME with an issuer of auth.jwt',
    isName: true,
  },
]);

/** What a rule about callers asks that no caller can have under this `auth`. */
export function callerProblems(match: CallerMatch, path: Path, ways: WaysIn): ConfigProblem[] {
  return problemsOf(OF_CALLERS, match, path, ways);
}

/** What an entry of `clients` asks that no caller can have. */
export function clientProblems({ principal }: CallerMatch, path: Path, ways: WaysIn): ConfigProblem[] {
  return problemsOf(OF_CLIENTS, { principal }, path, ways);
}

function problemsOf(
  table: Table,
  match: CallerMatch,
  path: Path,
  { auth, lacksNames = false }: WaysIn,
): ConfigProblem[] {
  if (auth === undefined) return [];
  const names = keyNamesOf(auth);
  return MEMBERS.filter((member) => match[member] !== undefined).flatMap((member) =>
    brokenRules(table, { match, member, auth, names, lacksNames }, path),
  );
}

function tableOf(rows: readonly Row[]): Table {
  return rows.map(({ auth, asks, when, message, isName }) => ({
    when: (asked) =>
      auth.includes(asked.auth.use) &&
      asks.includes(asked.member) &&
      !(isName && asked.lacksNames) &&
      (when?.(asked) ?? true),
    path: ({ member }) => [member],
    message,
    ...(isName && { value: ({ match, member }: Asked) => match[member] }),
  }));
}

function isNameOfKey({ match: { key = '' }, names }: Asked): boolean {
  return fitsAny(key, names);
}

/** Whether some caller, or an operator who tries a tool, may have this principal. */
function mayBePrincipal({ match: { principal = '' }, auth, names }: Asked): boolean {
  return (
    fitsAny(principal, names) ||
    [...beginningsOf(auth), 'console:'].some((beginning) => mayBeginWith(principal, beginning))
  );
}

/** What the principals of callers with tokens begin with. */
function beginningsOf(auth: Config['auth']): string[] {
  return 'jwt' in auth ? auth.jwt.issuers.map(({ issuer }) => `${issuer}|`) : [];
}

/** Whether two patterns fit the same name. */
function areOneName(one: string, other: string, names: ReadonlySet<string>): boolean {
  if (!one.includes('*')) return fits(other, one);
  return other.includes('*') ? [...names].some((name) => fits(one, name) && fits(other, name)) : fits(one, other);
}

/** Whether a pattern fits any name with this beginning. */
function mayBeginWith(pattern: string, beginning: string): boolean {
  const [first = ''] = pattern.split('*', 1);
  return first.startsWith(beginning) || (first.length < pattern.length && beginning.startsWith(first));
}
