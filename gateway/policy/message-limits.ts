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
export type LimitSources = Readonly<Partial<Record<MessageLimit, string>>>;

/** The limits of an exchange. */
export interface ExchangeLimits extends Limits {
  /** Of those that a tool sets. */
  readonly sources?: LimitSources;
  /** Each of them must accept a file that a server is given; absent: every type will do. */
  readonly accept?: readonly AcceptRule[];
}

/** What one side says about the limits of an exchange. */
export interface LimitsOfSide extends Partial<MessageLimits> {
  readonly sources?: LimitSources;
  readonly accept?: readonly AcceptRule[];
}

/** The limits of one exchange; those of the server themselves where no other side lowers any. */
export function lowestOf(server: ExchangeLimits, ...sides: readonly LimitsOfSide[]): ExchangeLimits {
  const lower: Partial<MessageLimits> = {};
  const sources: Partial<Record<MessageLimit, string>> = { ...server.sources };
  const accept = joined([server, ...sides].flatMap((side) => side.accept ?? []));
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
  const isSame = Object.keys(lower).length === 0 && accept.length === (server.accept?.length ?? 0);
  if (isSame) return server;
  const { sources: _, ...limits } = server;
  const told = Object.keys(sources).length > 0 && { sources };
  return { ...limits, ...lower, ...told, ...(accept.length > 0 && { accept }) };
}

/** Each place in the config once: a side may have been joined before. */
function joined(rules: readonly AcceptRule[]): AcceptRule[] {
  return [...new Map(rules.map((rule) => [rule.source, rule])).values()];
}
