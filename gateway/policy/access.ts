import type { CallerMatch, KnownCaller } from './callers.js';
import { fits, mayFit, readInC } from './pattern.js';
import { rulesAbout } from './rules-about.js';

/** An entry of `servers.X.allow`: the callers that it lets in, and the tools that they may use. */
export interface AllowRule extends CallerMatch {
  /** Patterns of the server's own names; absent: every tool. */
  readonly tools?: readonly string[] | undefined;
}

/** What a key may reach: `auth.keys[]`. */
export interface KeyScope {
  /** Patterns of servers' names. */
  readonly servers?: readonly string[] | undefined;
  /** Patterns `SERVER.TOOL`. */
  readonly tools?: readonly string[] | undefined;
}

/** Who may reach which servers and tools, as the config says it. */
export interface AccessRules {
  /** `servers.X.allow`, by server; a server without it is open to every caller. */
  readonly allow: ReadonlyMap<string, readonly AllowRule[]>;
  /** Keys that do not reach everything, by name. */
  readonly keys: ReadonlyMap<string, KeyScope>;
}

interface AccessQuestion {
  identity: KnownCaller;
  server: string;
  /** The server's own name of a tool; without it the question is about the server. */
  tool?: string | undefined;
}

/** Whether a caller may reach a server or a tool. */
export interface Decision {
  readonly allowed: boolean;
  /** The place in the config that decided; undefined where no rule is about it. */
  readonly rule: string | undefined;
}

const OPEN: Decision = { allowed: true, rule: undefined };

/**
 * Whether a caller may reach a server, or use a tool of it. Both the caller's key and the server's own list must allow
 * it: neither can widen what the other leaves.
 */
export function decide(rules: AccessRules, question: AccessQuestion): Decision {
  const byKey = ofKey(rules, question);
  if (byKey && !byKey.allowed) return byKey;
  return ofServer(rules, question) ?? byKey ?? OPEN;
}

/** True when every caller may use every tool of the server, so that there is nothing to decide. */
export function isOpen({ allow, keys }: AccessRules, server: string): boolean {
  const isWhole = ({ tools, ...match }: AllowRule) =>
    tools === undefined && Object.values(match).every((one) => one === undefined);
  return keys.size === 0 && (allow.get(server)?.some(isWhole) ?? true);
}

function ofKey({ keys }: AccessRules, { identity: { key }, server, tool }: AccessQuestion): Decision | undefined {
  const scope = key === undefined ? undefined : keys.get(key);
  if (!scope) return undefined;
  const { servers, tools } = scope;
  const at = (member: keyof KeyScope) => `auth.keys, ${key}: ${member}`;
  if (servers && !chosen(servers, (pattern) => fits(pattern, server))) return { allowed: false, rule: at('servers') };
  if (!tools) return servers && { allowed: true, rule: at('servers') };
  const names = (pattern: string) => fits(serverPart(pattern), server);
  const allowed =
    tool === undefined
      ? onlyTakesAway(tools) || tools.some((pattern) => !isTakenAway(pattern) && names(pattern))
      : chosen(tools, (pattern, fitsTool) => names(pattern) && fitsTool(toolPart(pattern), tool));
  return { allowed, rule: at('tools') };
}

function ofServer({ allow }: AccessRules, { identity, server, tool }: AccessQuestion): Decision | undefined {
  const rules = allow.get(server);
  if (!rules) return undefined;
  const found = rulesAbout(rules, identity, (rule) => rule).find((place) => {
    const tools = rules[place]?.tools;
    return tool === undefined || !tools || chosen(tools, (pattern, fitsTool) => fitsTool(pattern, tool));
  });
  const list = `servers.${server}.allow`;
  return found === undefined ? { allowed: false, rule: list } : { allowed: true, rule: `${list}[${found}]` };
}

/** The last pattern that fits decides; a list that only takes away begins with everything. */
function chosen(patterns: readonly string[], isMeant: (pattern: string, how: typeof fits) => boolean): boolean {
  const last = patterns.findLast((pattern) =>
    isTakenAway(pattern) ? isMeant(pattern.slice(1), mayFit) : isMeant(pattern, fitsForAll),
  );
  return last === undefined ? onlyTakesAway(patterns) : !isTakenAway(last);
}

/** A name may go on behind a NUL with what a pattern asks for; a server in C is called by what is before it. */
function fitsForAll(pattern: string, name: string): boolean {
  return fits(pattern, name) && fits(pattern, readInC(name));
}

function onlyTakesAway(patterns: readonly string[]): boolean {
  return patterns.length > 0 && patterns.every(isTakenAway);
}

/** `!delete_*` takes away what an earlier pattern gave. */
function isTakenAway(pattern: string): boolean {
  return pattern.startsWith('!');
}

/** A server's name has no dots, so the first one ends it. */
function serverPart(pattern: string): string {
  return pattern.slice(0, pattern.indexOf('.'));
}

function toolPart(pattern: string): string {
  return pattern.slice(pattern.indexOf('.') + 1);
}
