import { isAccepted } from './accept.js';
import { type CallerMatch, type KnownCaller, meansCaller } from './callers.js';
import { fits } from './pattern.js';

export const FLOW_EFFECTS = ['deny', 'ask', 'allow'] as const;
export type FlowEffect = (typeof FLOW_EFFECTS)[number];

/** Which passages of a file a rule means: every given member must match. */
export interface FlowMatch extends CallerMatch {
  /** Server that the bytes come from, `*` matches any text. Absent: also what no server has given. */
  readonly from?: string | undefined;
  /** Server that would get them. */
  readonly to?: string | undefined;
  /** Media types; absent: every type. */
  readonly types?: readonly string[] | undefined;
  /** The file has more bytes than this. */
  readonly over?: number | undefined;
}

export interface FlowRule extends FlowMatch {
  readonly does: FlowEffect;
  /** Its place in the config, such as `flow[0]`. */
  readonly place: string;
}

/** A file on its way to a server. */
export interface Passage {
  /** Servers that have given the caller these bytes; none: they are the caller's own, as far as known. */
  readonly origins: readonly string[];
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
  for (const rule of rules) {
    if (!meansPassage(rule, origin, passage)) continue;
    const { types, over } = rule;
    if (types === undefined && over === undefined) return rule;
    if (!passage.file) return undefined;
    if (meansFile(rule, passage.file)) return rule;
  }
  return undefined;
}

function meansPassage(rule: FlowRule, origin: string | undefined, { to, who }: Passage): boolean {
  if (rule.from !== undefined && (origin === undefined || !fits(rule.from, origin))) return false;
  return (rule.to === undefined || fits(rule.to, to)) && meansCaller(rule, who);
}

function meansFile({ types, over }: FlowMatch, { mimeType, size }: NonNullable<Passage['file']>): boolean {
  return (types === undefined || isAccepted(types, mimeType)) && (over === undefined || size > over);
}
