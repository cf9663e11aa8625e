import { isDeepStrictEqual } from 'node:util';
import { decide } from '../../policy/access.js';
import { type LimitsOfSide, MESSAGE_LIMITS, type MessageLimits } from '../../policy/message-limits.js';
import { fitsAny } from '../../policy/pattern.js';
import type { ToolSettings } from '../../ports/file-slot.js';
import { keysOf } from '../access.js';
import type { ApiKey, Config, ServerConfig } from '../config.js';
import { nearest } from '../mistakes/nearest.js';
import { type ConfigProblem, type Path, problem } from '../problems.js';
import { callerProblems, type WaysIn } from './callers.js';
import { raisedLimit } from './raised-limit.js';

/** What they are about. A section with a problem of its own is missing. */
interface Rules extends WaysIn {
  callers?: Config['callers'] | undefined;
  ceiling?: Config['ceiling'] | undefined;
  clients?: readonly { readonly limits?: LimitsOfSide }[] | undefined;
  limits?: Partial<MessageLimits> | undefined;
  servers: readonly ServerConfig[];
}

/** Rules about callers, servers and tools that can never matter: each is a slip that would protect nothing. */
export function accessProblems(
  { servers, ...rules }: Rules,
  serverNames: readonly string[] | undefined,
): ConfigProblem[] {
  const { auth } = rules;
  const ofServers = servers.flatMap(({ name, allow = [], tools }) => [
    ...allow.flatMap((match, index) => callerProblems(match, ['servers', name, 'allow', index], rules)),
    ...nameProblems(tools, ['servers', name, 'tools']),
  ]);
  const ofCallers =
    rules.callers?.flatMap(({ match }, index) => callerProblems(match, ['callers', index], rules)) ?? [];
  const ofKeys = keyProblems(auth ? keysOf(auth) : [], serverNames);
  return [...ofServers, ...ofCallers, ...ofKeys, ...raisedLimits(rules)];
}

/** @param serverNames undefined: not known */
function keyProblems(keys: readonly ApiKey[], serverNames: readonly string[] | undefined): ConfigProblem[] {
  const known = new Set(serverNames);
  const firsts = new Map(keys.toReversed().map(({ digest: _, ...one }) => [one.name, one]));
  return keys.flatMap(({ name, digest: _, ...scope }, index) => {
    const path = ['auth', 'keys', index];
    const problems = serverNames ? reachProblems({ name, ...scope }, path, { serverNames, known }) : [];
    if (isDeepStrictEqual({ name, ...scope }, firsts.get(name))) return problems;
    return [...problems, problem(path, `must reach the same as the other key of "${name}": both belong to one caller`)];
  });
}

/** What a key names that this file does not have, or that it cannot reach. */
function reachProblems(
  { name, servers = [], tools = [] }: Omit<ApiKey, 'digest'>,
  path: Path,
  { serverNames, known }: { serverNames: readonly string[]; known: ReadonlySet<string> },
): ConfigProblem[] {
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
  return unknown.length > 0 ? unknown : outOfReach({ name, servers, tools }, path, serverNames);
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
