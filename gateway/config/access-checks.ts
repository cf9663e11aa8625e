import { isDeepStrictEqual } from 'node:util';
import { decide } from '../policy/access.js';
import type { CallerMatch } from '../policy/callers.js';
import { type LimitsOfSide, MESSAGE_LIMITS, type MessageLimits } from '../policy/message-limits.js';
import { fits, fitsAny } from '../policy/pattern.js';
import type { ToolSettings } from '../ports/file-slot.js';
import { keyNamesOf, keysOf } from './access.js';
import type { ApiKey, Config, ServerConfig } from './config.js';
import { nearest } from './mistakes/nearest.js';
import { type ConfigProblem, type Path, problem } from './problems.js';
import { raisedLimit } from './raised-limit.js';

/** What they are about. A section with a problem of its own is missing. */
interface Rules {
  auth?: Config['auth'] | undefined;
  callers?: Config['callers'] | undefined;
  ceiling?: Config['ceiling'] | undefined;
  clients?: readonly { readonly limits?: LimitsOfSide }[] | undefined;
  limits?: Partial<MessageLimits> | undefined;
  servers: readonly ServerConfig[];
}

/** Rules about callers, servers and tools that can never matter: each is a slip that would protect nothing. */
export function accessProblems({ auth, servers, ...rules }: Rules, serverNames: readonly string[]): ConfigProblem[] {
  const ofServers = servers.flatMap(({ name, allow = [], tools }) => [
    ...allow.flatMap((match, index) => callerProblems(match, ['servers', name, 'allow', index], auth)),
    ...nameProblems(tools, ['servers', name, 'tools']),
  ]);
  const ofCallers = rules.callers?.flatMap(({ match }, index) => callerProblems(match, ['callers', index], auth)) ?? [];
  const ofKeys = keyProblems(auth ? keysOf(auth) : [], serverNames);
  return [...ofServers, ...ofCallers, ...ofKeys, ...raisedLimits({ auth, ...rules })];
}

/** A match that no caller can have under this `auth`. */
export function callerProblems(match: CallerMatch, path: Path, auth: Config['auth'] | undefined): ConfigProblem[] {
  if (auth === undefined) return [];
  if (auth.use === 'none') {
    const text = 'never matches with auth none, where all callers are one';
    // operators who try tools have names all the same
    return givenIn(match).flatMap((member) =>
      member === 'principal' && match.principal?.startsWith('console:') ? [] : [problem([...path, member], text)],
    );
  }
  if (auth.use === 'passthrough') return problemsOfPassing(match, path);
  return [...keyAndTokenProblems(match, path, auth), ...principalProblems(match, path, auth)];
}

type Told = Extract<Config['auth'], { use: 'apiKeys' | 'jwt' | 'both' }>;

/** A caller has either a key or what a token says. */
function keyAndTokenProblems(match: CallerMatch, path: Path, auth: Told): ConfigProblem[] {
  const { key } = match;
  const problems: ConfigProblem[] = [];
  if (key !== undefined && !fitsAny(key, keyNamesOf(auth)))
    problems.push(
      auth.use === 'jwt'
        ? problem([...path, 'key'], 'never matches: callers with tokens have none')
        : problem([...path, 'key'], 'is the name of none of auth.keys', key),
    );
  if (auth.use === 'jwt' || (auth.use === 'both' && key === undefined)) return problems;
  const none = (['group', 'claim'] as const).filter((member) => match[member] !== undefined);
  const beside = auth.use === 'both' ? ' beside "key"' : '';
  const text = `never matches${beside}: callers with API keys have none`;
  return [...problems, ...none.map((member) => problem([...path, member], text))];
}

function principalProblems({ key, principal }: CallerMatch, path: Path, auth: Told): ConfigProblem[] {
  if (principal === undefined) return [];
  const names = keyNamesOf(auth);
  if (key !== undefined) {
    if (!fitsAny(key, names) || areOneName(key, principal, names)) return [];
    return [problem([...path, 'principal'], 'never matches beside "key": a caller with a key has its name', principal)];
  }
  if (fitsAny(principal, names)) return [];
  const issuers = auth.use === 'apiKeys' ? [] : auth.jwt.issuers;
  const beginnings = [...issuers.map(({ issuer }) => `${issuer}|`), 'console:'];
  if (beginnings.some((beginning) => mayBeginWith(principal, beginning))) return [];
  const text =
    auth.use === 'apiKeys'
      ? 'is the name of none of auth.keys'
      : `never matches: a caller with a token is its issuer and its name, as in "${beginnings[0]}ada"`;
  return [problem([...path, 'principal'], text, principal)];
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

function problemsOfPassing(match: CallerMatch, path: Path): ConfigProblem[] {
  const text = 'never matches with auth passthrough, where the server alone knows who calls';
  return givenIn(match).map((member) => problem([...path, member], text));
}

/** What a match asks of a caller. */
function givenIn(match: CallerMatch) {
  return (['key', 'principal', 'group', 'claim'] as const).filter((member) => match[member] !== undefined);
}

function keyProblems(keys: readonly ApiKey[], serverNames: readonly string[]): ConfigProblem[] {
  const known = new Set(serverNames);
  const firsts = new Map(keys.toReversed().map(({ digest: _, ...one }) => [one.name, one]));
  return keys.flatMap(({ name, digest: _, ...scope }, index) => {
    const { servers = [], tools = [] } = scope;
    const path = ['auth', 'keys', index];
    const meant = [
      ...servers.map((pattern, at) => ({ pattern, server: pattern, at: [...path, 'servers', at] })),
      ...tools.map((pattern, at) => ({
        pattern,
        server: pattern.slice(0, pattern.indexOf('.')),
        at: [...path, 'tools', at],
      })),
    ];
    const unknown = meant.flatMap(({ pattern, server, at }) => {
      const asked = server.replace(/^!/, '');
      if (fitsAny(asked, known)) return [];
      const near = nearest(asked, serverNames);
      return [
        problem(at, `fits no server of this file${near === undefined ? '' : `; did you mean "${near}"?`}`, pattern),
      ];
    });
    const problems = unknown.length > 0 ? unknown : outOfReach({ name, servers, tools }, path, serverNames);
    if (isDeepStrictEqual({ name, ...scope }, firsts.get(name))) return problems;
    return [...problems, problem(path, `must reach the same as the other key of "${name}": both belong to one caller`)];
  });
}

/** What `servers` of a key takes away from its `tools`, or from the key as a whole. */
function outOfReach(
  { name, servers, tools }: { name: string; servers: readonly string[]; tools: readonly string[] },
  path: Path,
  serverNames: readonly string[],
): ConfigProblem[] {
  // for a list that only gives, each pattern fits a server
  if (servers.length === 0 || (tools.length === 0 && !servers.some((pattern) => pattern.startsWith('!')))) return [];
  const rules = { allow: new Map(), keys: new Map([[name, { servers }]]) };
  const identity = { key: name, groups: [] };
  const reached = new Set(serverNames.filter((server) => decide(rules, { identity, server }).allowed));
  if (reached.size === 0) return [problem([...path, 'servers'], 'leaves the key no server of this file')];
  return tools.flatMap((pattern, index) => {
    if (pattern.startsWith('!') || fitsAny(pattern.slice(0, pattern.indexOf('.')), reached)) return [];
    return [problem([...path, 'tools', index], 'is of no server that `servers` of this key reaches', pattern)];
  });
}

/** More than any part of Wharf takes cannot be allowed to a caller. */
function raisedLimits({ auth, callers = [], clients = [], ceiling = {}, limits = {} }: Omit<Rules, 'servers'>) {
  const keys = auth ? keysOf(auth) : [];
  const set: { own: Partial<MessageLimits>; path: Path }[] = [
    { own: ceiling, path: ['ceiling'] },
    ...callers.map((entry, index) => ({ own: entry.limits, path: ['callers', index, 'limits'] })),
    ...keys.map((key, index) => ({ own: key.limits ?? {}, path: ['auth', 'keys', index, 'limits'] })),
    ...clients.map((entry, index) => ({ own: entry.limits ?? {}, path: ['clients', index, 'limits'] })),
  ];
  return set.flatMap(({ own, path }) =>
    MESSAGE_LIMITS.flatMap((name) => {
      const [value, most] = [own[name], limits[name]];
      if (value === undefined || most === undefined || value <= most) return [];
      return [raisedLimit([...path, name], value, { name, most, of: 'limits' })];
    }),
  );
}

/** Two tools under one name: a call could mean either. */
function nameProblems(tools: Readonly<Record<string, ToolSettings>>, path: Path): ConfigProblem[] {
  const names = new Map<string, string>();
  return Object.entries(tools).flatMap(([own, { name }]) => {
    if (name === undefined) return [];
    const other = names.get(name);
    names.set(name, own);
    return other === undefined ? [] : [problem([...path, own, 'name'], `is the name of the tool "${other}" too`, name)];
  });
}
