import { acceptedByAll, isAccepted } from './accept.js';
import type { Limits } from './limits.js';

/**
 * Limits of each message and its files. Three sides may lower them: the server, the caller, and the client's host. The
 * smallest counts, since each side says what it can bear.
 */
export const MESSAGE_LIMITS = [
  'message',
  'response',
  'inlineImage',
  'inlineOther',
  'inlineResource',
  'inlineArgument',
  'file',
  'files',
  'filesPerArgument',
] as const satisfies readonly (keyof Limits)[];

export type MessageLimit = (typeof MESSAGE_LIMITS)[number];
export type MessageLimits = Pick<Limits, MessageLimit>;

/** Media types, and the place in the config that names them. */
export interface AcceptRule {
  readonly types: readonly string[];
  readonly source: string;
}

/** The places in the config that set limits, where errors name them. */
type LimitSources = Readonly<Partial<Record<MessageLimit, string>>>;

/** Lists of media types: of files that a server may be given, and of those that it may return. */
export const TYPE_LIMITS = ['accept', 'acceptResults'] as const;

export type TypeLimit = (typeof TYPE_LIMITS)[number];

/** Each of the rules must accept a file; absent: every type will do. */
export type TypeRules = { readonly [Name in TypeLimit]?: readonly AcceptRule[] };

/** The limits of an exchange. */
export interface ExchangeLimits extends Limits, TypeRules {
  /** Of those that a tool sets. */
  readonly sources?: LimitSources;
}

/** What one side says about the limits of an exchange. */
export interface LimitsOfSide extends Partial<MessageLimits>, TypeRules {
  readonly sources?: LimitSources;
}

/** The first rule that refuses a file of this media type. */
export function refusingRule(rules: readonly AcceptRule[], mimeType: string): AcceptRule | undefined {
  return rules.find(({ types }) => !isAccepted(types, mimeType));
}

/** One of the lists that keep types of files from a place, and what names it. */
export interface AcceptedBy {
  readonly types: readonly string[];
  readonly limit: string;
  readonly source?: string;
}

/** Which files a place takes: one list for who picks the file, and the lists behind it. Both are absent where it takes any. */
export interface Accepting {
  accept?: readonly string[];
  acceptBy?: readonly AcceptedBy[];
}

/** Most types in such lists together, and in one list of an upload. */
export const MAX_ACCEPT = 100;
/** RFC 6838 §4.2: a type and a subtype have at most 127 characters each. */
export const MAX_TYPE = 255;

/**
 * Those that are kept: they only give a refusal its name, a server may write long ones, and they are in tickets, in errors and in
 * what a client gives back.
 */
export function keptLists(lists: readonly AcceptedBy[]): Pick<Accepting, 'acceptBy'> {
  let left = MAX_ACCEPT;
  const kept = lists.filter(({ types }) => {
    const isKept = types.length <= left && types.every(({ length }) => length <= MAX_TYPE);
    if (isKept) left -= types.length;
    return isKept;
  });
  return kept.length > 0 ? { acceptBy: kept } : {};
}

/** What a place for a file and all of these rules accept. @param limit what the place's own list is called */
export function acceptedWithin(
  own: readonly string[] | undefined,
  rules: readonly AcceptRule[] = [],
  limit = 'accept of the argument',
): Accepting {
  const accept = acceptedByAll([own, ...rules.map(({ types }) => types)]);
  if (accept === undefined) return {};
  const ofPlace = own ? [{ types: own, limit }] : [];
  return { accept, ...keptLists([...ofPlace, ...rules.map((rule) => ({ ...rule, limit: 'limits.accept' }))]) };
}

/** The limits of one exchange; those of the server themselves where no other side lowers any. */
export function lowestOf(server: ExchangeLimits, ...sides: readonly LimitsOfSide[]): ExchangeLimits {
  const lower: Partial<MessageLimits> = {};
  const sources: Partial<Record<MessageLimit, string>> = { ...server.sources };
  const types: { -readonly [Name in TypeLimit]?: readonly AcceptRule[] } = {};
  for (const name of TYPE_LIMITS) {
    const rules = joined([server, ...sides].flatMap((side) => side[name] ?? []));
    if (rules.length > 0) types[name] = rules;
  }
  for (const name of MESSAGE_LIMITS) {
    for (const side of sides) {
      const value = side[name];
      if (value === undefined || value >= (lower[name] ?? server[name])) continue;
      lower[name] = value;
      const source = side.sources?.[name];
      if (source === undefined) delete sources[name];
      else sources[name] = source;
    }
  }
  const hasSameTypes = TYPE_LIMITS.every((name) => types[name]?.length === server[name]?.length);
  if (Object.keys(lower).length === 0 && hasSameTypes) return server;
  const { sources: _, ...limits } = server;
  const told = Object.keys(sources).length > 0 && { sources };
  return { ...limits, ...lower, ...told, ...types };
}

/** Each place in the config once: a side may have been joined before. */
function joined(rules: readonly AcceptRule[]): AcceptRule[] {
  return [...new Map(rules.map((rule) => [rule.source, rule])).values()];
}
