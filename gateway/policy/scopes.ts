import { fits, mayFit } from './pattern.js';

/** `auth.jwt.scopes`: the OAuth scopes that `*`, a server, or `SERVER.TOOL` (with `*`) asks for. */
export type ScopeRules = Readonly<Record<string, readonly string[]>>;

/** The scopes of one server, read once. */
export interface ServerScopes {
  /** What every request needs. */
  readonly own: readonly string[];
  /** Those, and what any of its tools needs besides. */
  readonly all: readonly string[];
  readonly tools: readonly { readonly pattern: string; readonly scopes: readonly string[] }[];
}

/** What `auth.jwt.scopes` says about a server: its own entry, else that of `*`, and every entry about its tools. */
export function scopesOf(rules: ScopeRules, server: string): ServerScopes {
  const own = (Object.hasOwn(rules, server) ? rules[server] : rules['*']) ?? [];
  const tools = Object.entries(rules).flatMap(([place, scopes]) => {
    const dot = place.indexOf('.');
    if (dot < 0 || !fits(place.slice(0, dot), server)) return [];
    return [{ pattern: place.slice(dot + 1), scopes }];
  });
  return { own, tools, all: distinct([...own, ...tools.flatMap(({ scopes }) => scopes)]) };
}

/** The scopes that a call of a tool needs. */
export function scopesOfTool({ own, tools }: ServerScopes, tool: string): readonly string[] {
  const more = tools.filter(({ pattern }) => mayFit(pattern, tool));
  return more.length === 0 ? own : distinct([...own, ...more.flatMap(({ scopes }) => scopes)]);
}

/** A token's scopes, with those that they include: `implies` says `admin: [read, write]`. */
export function widened(granted: readonly string[], implies: ScopeRules): readonly string[] {
  const found = new Set(granted);
  // a set is walked with what is added on the way, so that a chain is followed, and a circle ends
  for (const scope of found)
    for (const more of Object.hasOwn(implies, scope) ? (implies[scope] ?? []) : []) found.add(more);
  return [...found];
}

/** True when every needed scope was granted. */
export function holdsAll(granted: readonly string[], needed: readonly string[]): boolean {
  return needed.every((scope) => granted.includes(scope));
}

function distinct(scopes: readonly string[]): string[] {
  return [...new Set(scopes)];
}
