import { type AccessRules, decide } from '../policy/access.js';
import type { KnownCaller } from '../policy/callers.js';
import { type GivenWords, ToolNames } from '../policy/tool-names.js';

/** Who asks for what, as on the command line. */
interface AskedAccess {
  server: string;
  tool: string | undefined;
  principal: string | undefined;
  key: string | undefined;
  groups: readonly string[];
}

/** The caller that is meant. The principal of an API key has the key's name. */
export function callerOf({ principal, key, groups }: AskedAccess, keys: readonly string[]): KnownCaller {
  const own = key ?? (principal !== undefined && keys.includes(principal) ? principal : undefined);
  return { principal: principal ?? own, key: own, groups };
}

/** Operators who try tools in the console are principals without a key. */
const OPERATOR = /^console:/;

/** The name of a key that there is not: rules without a name would let such a caller in, and the gateway does not. */
export function unknownCaller(
  { principal, key }: Pick<AskedAccess, 'principal' | 'key'>,
  keys: readonly string[],
  use: string,
): string | undefined {
  const named = key ?? (use === 'apiKeys' ? principal : undefined);
  if (named === undefined || keys.includes(named) || (key === undefined && OPERATOR.test(named))) return undefined;
  return named;
}

/**
 * Whether a caller may use a server and a tool of it, and which rule decides.
 * @param tools the operator's settings, by the server's own names
 */
export function explainAccess(
  asked: AskedAccess,
  caller: KnownCaller,
  rules: AccessRules,
  tools: Readonly<Record<string, GivenWords>>,
): string {
  const { server, tool } = asked;
  const who = nameOf(caller);
  const reach = decide(rules, { identity: caller, server });
  const lines = [`${who} ${reach.allowed ? 'may' : 'may not'} use the server "${server}"${because(reach.rule)}.`];
  if (tool === undefined) return text(lines);
  const names = new ToolNames(tools);
  const own = ownNameOf(tool, tools);
  if (own === undefined) return text([...lines, `No tool of it can be called "${tool}".`]);
  const use = decide(rules, { identity: caller, server, tool: own });
  lines.push(`${who} ${use.allowed ? 'may' : 'may not'} use its tool "${own}"${because(use.rule)}.`);
  const given = names.given(own);
  if (given === undefined) lines.push(`No client sees it: its name is given to "${names.own(own)}".`);
  else if (given !== own) lines.push(`Clients see and call it as "${given}".`);
  if (!use.allowed) lines.push('It is not in the list of tools, and a call of it is refused as unknown.');
  return text(lines);
}

/** The server's own name of a tool, by that or by the one that clients know. */
export function ownNameOf(tool: string | undefined, tools: Readonly<Record<string, GivenWords>>): string | undefined {
  if (tool === undefined || Object.hasOwn(tools, tool)) return tool;
  return new ToolNames(tools).own(tool);
}

function nameOf({ principal, key, groups }: KnownCaller): string {
  const facts = [
    ...(principal === undefined ? [] : [`principal ${principal}`]),
    ...(key === undefined ? [] : [`key ${key}`]),
    ...groups.map((group) => `group ${group}`),
  ];
  return `A caller with ${facts.length === 0 ? 'neither key nor group' : facts.join(', ')}`;
}

function because(rule: string | undefined): string {
  return rule === undefined ? ': no rule is about it' : `, by ${rule}`;
}

function text(lines: readonly string[]): string {
  return `${lines.join('\n')}\n`;
}
