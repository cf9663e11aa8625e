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

/** The limits of an exchange. */
export interface ExchangeLimits extends Limits {
  /** Each of them must accept a file that a server is given; absent: every type will do. */
  readonly accept?: readonly AcceptRule[];
}

/** What one side says about the limits of an exchange. */
export interface LimitsOfSide extends Partial<MessageLimits> {
  readonly accept?: readonly AcceptRule[];
}

/** The limits of one exchange; those of the server themselves where no other side lowers any. */
export function lowestOf(server: ExchangeLimits, ...sides: readonly LimitsOfSide[]): ExchangeLimits {
  const lower: Partial<MessageLimits> = {};
  const accept = [...(server.accept ?? []), ...sides.flatMap((side) => side.accept ?? [])];
  for (const name of MESSAGE_LIMITS) {
    const least = Math.min(server[name], ...sides.map((side) => side[name] ?? Number.POSITIVE_INFINITY));
    if (least < server[name]) lower[name] = least;
  }
  const isSame = Object.keys(lower).length === 0 && accept.length === (server.accept?.length ?? 0);
  return isSame ? server : { ...server, ...lower, ...(accept.length > 0 && { accept }) };
}
