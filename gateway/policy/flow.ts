import { essence, isSameType } from './accept.js';
import type { CallerMatch, KnownCaller } from './callers.js';
import { fits } from './pattern.js';
import { rulesAbout } from './rules-about.js';

/** What a rule does with a file, from the strictest to the mildest. */
export const FLOW_EFFECTS = ['deny', 'ask', 'allow'] as const;
/** One of FLOW_EFFECTS. */
export type FlowEffect = (typeof FLOW_EFFECTS)[number];

/** Stands for all types under which bytes were given, where these are too many to be remembered. */
export const ANY_TYPE = '*/*';

/** Which passages of a file a rule means: every given member must match. */
export interface FlowMatch extends CallerMatch {
  /** Server that the bytes come from, `*` matches any text. Absent: also what no server has given. */
  readonly from?: string | undefined;
  /** Server that would get them. */
  readonly to?: string | undefined;
  /** Media types, or `image/*`; absent: every type. */
  readonly types?: readonly string[] | undefined;
  /** The file has more bytes than this. */
  readonly over?: number | undefined;
}

/** One rule of `flow:`. */
export interface FlowRule extends FlowMatch {
  readonly does: FlowEffect;
  /** Its place in the config, such as `flow[0]`. */
  readonly place: string;
}

/** A file on its way to a server. */
interface Passage {
  /** Servers that have given the caller these bytes; none: they are the caller's own, as far as known. */
  readonly origins: readonly string[];
  /** The media types under which each of them has given the bytes, as far as known. */
  readonly given?: ReadonlyMap<string, readonly string[]> | undefined;
  readonly to: string;
  readonly who: KnownCaller;
  /** Undefined before the file has been read. */
  readonly file?: { readonly mimeType: string; readonly size: number };
}

/** Today's form of the old `handoff` rules. */
export function rulesOfHandoff(
  rules: readonly { readonly from: string; readonly to: string; readonly allow: boolean }[],
): FlowRule[] {
  return rules.map(({ from, to, allow }, index) => ({
    does: allow ? 'allow' : 'deny',
    from,
    to,
    place: `handoff[${index}]`,
  }));
}

/**
 * The rule that keeps a file from a server, or wants the user asked first; undefined when it may go. For each origin the
 * first rule that matches decides, and without one it may: all servers act for the same principal. If the same bytes
 * have come from several servers, the strictest answer counts. A file may always go back to where it comes from.
 */
export function decideFlow(rules: readonly FlowRule[], passage: Passage): FlowRule | undefined {
  if (rules.length === 0) return undefined;
  const { origins, to } = passage;
  const foreign = origins.filter((origin) => origin !== to);
  if (origins.length > 0 && foreign.length === 0) return undefined;
  const from = origins.length === 0 ? [undefined] : foreign;
  const found = from.map((origin) => firstFor(rules, origin, passage));
  return found.find((rule) => rule?.does === 'deny') ?? found.find((rule) => rule?.does === 'ask');
}

/** Of a file that has not been read yet, only a rule that asks nothing of it can decide. */
function firstFor(rules: readonly FlowRule[], origin: string | undefined, passage: Passage): FlowRule | undefined {
  for (const place of rulesAbout(rules, passage.who, (rule) => rule)) {
    const rule = rules[place] as FlowRule;
    if (!meansServers(rule, origin, passage.to)) continue;
    const { types, over } = rule;
    if (types === undefined && over === undefined) return rule;
    if (!passage.file) return undefined;
    const given = origin === undefined ? [] : (passage.given?.get(origin) ?? []);
    if (meansFile(rule, passage.file, given)) return rule;
  }
  return undefined;
}

function meansServers(rule: FlowRule, origin: string | undefined, to: string): boolean {
  if (rule.from !== undefined && (origin === undefined || !fits(rule.from, origin))) return false;
  return rule.to === undefined || fits(rule.to, to);
}

/**
 * What a file is called on its way back is the caller's own word. So the types under which its server has given it count
 * too: a rule that keeps files back means one of which any type fits, a rule that lets files go one of which each fits.
 */
function meansFile(
  { does, types, over }: FlowRule,
  { mimeType, size }: NonNullable<Passage['file']>,
  given: readonly string[],
): boolean {
  if (over !== undefined && size <= over) return false;
  if (types === undefined) return true;
  const all = [mimeType, ...given];
  if (does === 'allow') return all.every((type) => types.some((wanted) => isOfType(wanted, type)));
  return all.some(
    (type) => type === ANY_TYPE || types.some((wanted) => isOfType(wanted, type) || isText(wanted, type)),
  );
}

/** What a rule lets go is exactly what it names: other lists of types are hints, and take more. */
function isOfType(wanted: string, type: string): boolean {
  const [entry, given] = [essence(wanted), essence(type)];
  return isSameType(entry, given) || (entry.endsWith('/*') && given.startsWith(entry.slice(0, -1)));
}

/** A rule that keeps `text/plain` back keeps every type of text back, since each is also plain text. */
function isText(wanted: string, type: string): boolean {
  return essence(wanted) === 'text/plain' && essence(type).startsWith('text/');
}
