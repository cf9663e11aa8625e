import type { SetLimit } from './allowance.js';
import type { Limits } from './limits.js';
import {
  type AcceptRule,
  type ExchangeLimits,
  type LimitsOfSide,
  lowestOf,
  MESSAGE_LIMITS,
  type MessageLimit,
  TYPE_LIMITS,
  type TypeLimit,
} from './message-limits.js';
import { mayFit } from './pattern.js';

/** Limits of each message that a tool can have of its own: a resource is read without one. */
type ToolMessageLimit = Exclude<MessageLimit, 'inlineResource'>;

export const TOOL_MESSAGE_LIMITS = MESSAGE_LIMITS.filter((name): name is ToolMessageLimit => name !== 'inlineResource');

/** What one caller may use of a tool, over all its calls. */
export const CALL_AMOUNTS = ['exchanges', 'requestsPerMinute'] as const;

type CallAmount = (typeof CALL_AMOUNTS)[number];

/** `servers.X.tools.Y.limits` */
export interface ToolLimitSettings
  extends Partial<Pick<Limits, ToolMessageLimit>>,
    Partial<Record<CallAmount, number>>,
    Partial<Record<TypeLimit, readonly string[]>> {}

/** A number of calls that is counted for one caller, over all tools that the entry of the config means. */
interface CountedLimit extends SetLimit {
  /** Of `servers.X.tools`. */
  readonly entry: string;
}

/** What is set for one tool. */
export interface SetForTool {
  readonly side: LimitsOfSide;
  readonly amounts: { readonly [Name in CallAmount]?: CountedLimit };
}

/** A name that a place in the config needs no quotes for. */
const PLAIN = /^[A-Za-z0-9_-]{1,64}$/;

interface Entry {
  readonly name: string;
  readonly limits: ToolLimitSettings;
}

/** The limits that the operator has set for single tools of one server. */
export class ToolLimits {
  readonly #server: string;
  readonly #entries: readonly Entry[];

  /** @param tools by the server's own names; in a name without other settings `*` matches any text */
  constructor(server: string, tools: Readonly<Record<string, { readonly limits?: ToolLimitSettings | undefined }>>) {
    this.#server = server;
    this.#entries = Object.entries(tools).flatMap(([name, { limits }]) =>
      limits && Object.keys(limits).length > 0 ? [{ name, limits }] : [],
    );
  }

  /** False where no tool has limits of its own. */
  get isOn(): boolean {
    return this.#entries.length > 0;
  }

  /** True where the media types of some tool's results are limited. */
  get limitsResults(): boolean {
    return this.#entries.some(({ limits }) => limits.acceptResults !== undefined);
  }

  /** True where the media types of files that some tool is given are limited. */
  get limitsTaken(): boolean {
    return this.#entries.some(({ limits }) => limits.accept !== undefined);
  }

  /**
   * Of each limit the most specific setting: that of the tool's own name, else of the first other entry that means it
   * and sets the limit. A server may read another spelling as the same tool, so each may fit.
   */
  of(tool: string): SetForTool | undefined {
    const exact = this.#entries.filter(({ name }) => name === tool);
    const others = this.#entries.filter(({ name }) => name !== tool && mayFit(name, tool));
    const meant = [...exact, ...others];
    if (meant.length === 0) return undefined;
    const lowered: Partial<Record<MessageLimit, number>> = {};
    const sources: Partial<Record<MessageLimit, string>> = {};
    for (const name of TOOL_MESSAGE_LIMITS) {
      const entry = meant.find(({ limits }) => limits[name] !== undefined);
      if (!entry) continue;
      lowered[name] = entry.limits[name] as number;
      sources[name] = this.#placeOf(entry, name);
    }
    const rules: { [Name in TypeLimit]?: readonly AcceptRule[] } = {};
    for (const name of TYPE_LIMITS) {
      const entry = meant.find(({ limits }) => limits[name] !== undefined);
      const types = entry?.limits[name];
      if (entry && types) rules[name] = [{ types, source: this.#placeOf(entry, name) }];
    }
    const amounts: { [Name in CallAmount]?: CountedLimit } = {};
    for (const name of CALL_AMOUNTS) {
      const entry = meant.find(({ limits }) => limits[name] !== undefined);
      const value = entry?.limits[name];
      if (entry && value !== undefined) {
        amounts[name] = { value, source: this.#placeOf(entry, name), entry: entry.name };
      }
    }
    return { side: { ...lowered, sources, ...rules }, amounts };
  }

  /** Limits as these tools lower them; the same object where they lower none. */
  lower(limits: ExchangeLimits, tools: readonly (string | undefined)[]): ExchangeLimits {
    if (!this.isOn) return limits;
    const names = new Set(tools.filter((tool) => tool !== undefined));
    const sides = [...names].flatMap((tool) => this.of(tool)?.side ?? []);
    return sides.length === 0 ? limits : lowestOf(limits, ...sides);
  }

  /**
   * Limits for a tool that is not known: no file of a type that some tool may not return, or may not be given.
   * @param name which of the two is asked
   */
  ofUnknown(limits: ExchangeLimits, name: TypeLimit): ExchangeLimits {
    const rules = this.#entries.flatMap((entry) => {
      const types = entry.limits[name];
      return types ? [{ types, source: this.#placeOf(entry, name) }] : [];
    });
    return rules.length > 0 ? lowestOf(limits, { [name]: rules }) : limits;
  }

  /** The lowest limits that any tool may have. */
  least(limits: ExchangeLimits): ExchangeLimits {
    if (!this.isOn) return limits;
    return lowestOf(limits, ...this.#entries.map(({ limits: { accept: _, acceptResults: __, ...own } }) => own));
  }

  #placeOf({ name }: Entry, limit: string): string {
    const step = PLAIN.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`;
    return `servers.${this.#server}.tools${step}.limits.${limit}`;
  }
}
