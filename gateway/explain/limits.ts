import {
  type AllowanceRules,
  allowanceOf,
  CALLER_LIMITS,
  type CallerLimit,
  lowerOf,
  placesOf,
  type SetLimit,
} from '../policy/allowance.js';
import { countText, filesText } from '../policy/amounts.js';
import type { KnownCaller } from '../policy/callers.js';
import type { Limits } from '../policy/limits.js';
import {
  type ExchangeLimits,
  type LimitsOfSide,
  MESSAGE_LIMITS,
  type MessageLimit,
  TYPE_LIMITS,
} from '../policy/message-limits.js';
import { CALL_AMOUNTS, type SetForTool } from '../policy/tool-limits.js';
import { formatSize } from '../policy/units.js';
import { placeText } from './place-text.js';

/** What each limit is about, in the units of the config. */
export const AMOUNTS: Readonly<Record<CallerLimit, (value: number) => string>> = {
  exchanges: (value) => `${countText(value, 'request')} under way at one time, on each replica`,
  requestsPerMinute: (value) => `${countText(value, 'request')} a minute`,
  uploads: (value) => `${countText(value, 'upload')} under way at one time, on each replica`,
  sessions: (value) => `${countText(value, 'session')} at one time, on each replica`,
  processes: (value) => `${countText(value, 'process', 'processes')} of stdio servers at one time, on each replica`,
  filesPerDay: (value) => `${filesText(1, value)} stored within 24 hours`,
  bytesPerDay: (value) => `${formatSize(value)} stored within 24 hours`,
  storedBytes: (value) => `${formatSize(value)} kept at one time`,
  message: (value) => `${formatSize(value)} in a message without its files`,
  response: (value) => `${formatSize(value)} in a message of the server without its files`,
  inlineImage: (value) => `${formatSize(value)} in an image that stays in a result`,
  inlineOther: (value) => `${formatSize(value)} in another file that stays in a result`,
  inlineResource: (value) => `${formatSize(value)} in a resource that stays in its answer`,
  inlineArgument: (value) => `${formatSize(value)} in a file inside an argument`,
  file: (value) => `${formatSize(value)} in a file`,
  files: (value) => `${filesText(1, value)} with one message`,
  filesPerArgument: (value) => `${filesText(1, value)} in one argument`,
};

/** A server of the config, whose limits are at most those of `limits`. */
interface LimitedServer {
  name: string;
  limits: ExchangeLimits;
  global: Limits;
  /** Whether the config has a setting, by its path: what it does not have is a default. */
  isSet: (path: string) => boolean;
}

/** A tool with limits of its own. */
interface LimitedTool {
  name: string;
  set: SetForTool;
}

/** What the config says about the client's host, and where. */
interface LimitedHost {
  limits: LimitsOfSide;
  place: string;
}

/** Which limits apply to a caller of a server, and where each comes from. */
export function explainLimits(
  caller: KnownCaller,
  rules: AllowanceRules,
  server: LimitedServer,
  { host, tool }: { host?: LimitedHost | undefined; tool?: LimitedTool | undefined } = {},
): string {
  const allowance = allowanceOf(rules, caller);
  const isOfMessage = (name: CallerLimit): name is MessageLimit => MESSAGE_LIMITS.some((one) => one === name);
  const rows = CALLER_LIMITS.map((name) => {
    const set = isOfMessage(name) ? lowestOf(name, allowance[name], server, { host, tool }) : allowance[name];
    const value = set === undefined ? 'not limited' : `${AMOUNTS[name](set.value)}, by ${sourceOf(set, name)}`;
    return `  ${name}: ${value}${hiddenText(name, [...placesOf(name, rules, caller)])}`;
  });
  const sides = [server.limits, allowance, host?.limits, tool?.set.side];
  const types = TYPE_LIMITS.flatMap((name) => {
    const rules = sides.flatMap((side) => side?.[name] ?? []);
    const told = rules.map(({ types: some, source }) => `  ${name}: ${some.join(', ')}, by ${source}`);
    return told.length > 0 ? told : [`  ${name}: every type of file`];
  });
  const all = ['Its limits:', ...rows, ...types];
  return `${[...all, ...(tool ? callRows(tool, rules) : [])].join('\n')}\n`;
}

/** How often, and how often at one time, a caller may call a tool. */
function callRows({ name, set: { amounts } }: LimitedTool, { ceiling }: AllowanceRules): string[] {
  const rows = CALL_AMOUNTS.flatMap((amount) => {
    const own = amounts[amount];
    const set = own && lowerOf(own, ceiling[amount], amount);
    if (!own || !set) return [];
    const together = own.entry === name ? '' : `, with all tools that ${own.entry} means`;
    return [`  ${amount}: ${AMOUNTS[amount](set.value)}${together}, by ${sourceOf(set, amount)}`];
  });
  return rows.length === 0 ? [] : [`Those of its calls of the tool "${name}":`, ...rows];
}

/** The smallest of what the server, the caller and its host say. */
function lowestOf(
  name: MessageLimit,
  ofCaller: SetLimit | undefined,
  { name: server, limits, global, isSet }: LimitedServer,
  { host, tool }: { host: LimitedHost | undefined; tool: LimitedTool | undefined },
): SetLimit {
  const isOwn = limits[name] < global[name];
  const ofHost = host?.limits[name];
  const side = tool?.set.side;
  const [ofTool, source] = [side?.[name], side?.sources?.[name]];
  const sides: SetLimit[] = [
    ...(ofCaller ? [ofCaller] : []),
    ...(ofHost === undefined ? [] : [{ value: ofHost, source: `${host?.place}.${name}` }]),
    ...(ofTool === undefined || source === undefined ? [] : [{ value: ofTool, source }]),
    { value: limits[name], source: isOwn ? `servers.${server}.limits.${name}` : placeText(`limits.${name}`, isSet) },
  ];
  return sides.reduce((least, one) => (one.value < least.value ? one : least));
}

/**
 * Entries that mean the caller in vain: only the most specific place counts, also where another one says less. That
 * `limits` gives way to each of them is what it is for.
 */
function hiddenText(name: CallerLimit, [first, ...others]: readonly SetLimit[]): string {
  return others
    .filter(({ source }) => source !== `limits.${name}`)
    .map(({ value, source }) => `; ${source} (${AMOUNTS[name](value)}) comes after ${first?.source} and does not count`)
    .join('');
}

function sourceOf({ source, lowered }: SetLimit, name: CallerLimit): string {
  return lowered === undefined ? source : `${source}; ${lowered.source} would allow ${AMOUNTS[name](lowered.value)}`;
}
