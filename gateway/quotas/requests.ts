import { type ErrorFacts, GatewayError, SOON_S } from '../errors.js';
import type { CallerLimit } from '../policy/allowance.js';
import type { SetForTool } from '../policy/tool-limits.js';
import type { Clock } from '../ports/clock.js';
import type { Identity } from '../ports/identity.js';
import type { StateStore } from '../ports/state-store.js';
import { type Allowances, nameFor } from './allowances.js';

const MINUTE_MS = 60_000;
/** A minute is counted in this many spans, so that it can begin at any of them. */
const SPANS = 12;
const SPAN_MS = MINUTE_MS / SPANS;

interface RequestQuotasDeps {
  allowances: Allowances;
  state: Pick<StateStore, 'tally'>;
  clock: Clock;
}

/** What is counted while it lasts. */
type UnderWay = Extract<CallerLimit, 'exchanges' | 'uploads' | 'processes'>;

/** A call of a tool that has limits of its own. */
export interface LimitedCall {
  /** As its client knows it. */
  tool: string;
  amounts: SetForTool['amounts'];
}

/** What each caller may send and have: how many requests in a minute, and how much of what at one time. */
export class RequestQuotas {
  readonly #deps: RequestQuotasDeps;
  readonly #underWay: Readonly<Record<UnderWay, Map<string, number>>> = {
    exchanges: new Map(),
    uploads: new Map(),
    processes: new Map(),
  };
  /** By caller, server and entry of the config. */
  readonly #calls = new Map<string, number>();

  constructor(deps: RequestQuotasDeps) {
    this.#deps = deps;
  }

  /** False where the config limits no caller. */
  get isOn(): boolean {
    return this.#deps.allowances.isOn;
  }

  /**
   * Lets a request begin.
   * @returns what to call when it has ended
   * @throws GatewayError `requests_limited`, `rate_limited`, or the state store's error
   */
  begin(identity: Identity): Promise<() => void> {
    return this.#begin(identity, { count: 1 });
  }

  /**
   * Lets the further requests of a batch begin, whose first one has begun: how many there are is known only once it has
   * been read. One that is refused does not count at all.
   * @returns what to call when they have ended
   * @throws GatewayError `requests_limited`, `rate_limited`, or the state store's error
   */
  async beginFurther(identity: Identity, count: number): Promise<() => void> {
    if (!this.isOn) return () => undefined;
    try {
      return await this.#begin(identity, { count, begun: 1 });
    } catch (error) {
      const { principal } = identity;
      if (this.#deps.allowances.of(identity).requestsPerMinute) await this.#giveBack(rateOf(principal), 1);
      throw error;
    }
  }

  async #begin(identity: Identity, { count, begun }: { count: number; begun?: number }): Promise<() => void> {
    const { principal } = identity;
    const { exchanges, requestsPerMinute } = this.#deps.allowances.of(identity);
    const end = this.#enter('exchanges', principal, exchanges?.value, { count });
    try {
      if (requestsPerMinute) await this.#count(rateOf(principal), requestsPerMinute.value, { count, begun });
    } catch (error) {
      end();
      throw error;
    }
    return end;
  }

  /**
   * Lets a caller's calls of tools begin that have limits of their own.
   * @returns what to call when they have ended
   * @throws GatewayError `requests_limited`, `rate_limited`, or the state store's error
   */
  async beginCalls({ principal }: Identity, server: string, calls: readonly LimitedCall[]): Promise<() => void> {
    const ends: (() => void)[] = [];
    const end = () => {
      for (const one of ends) one();
    };
    const counted: string[] = [];
    try {
      for (const call of calls) {
        ends.push(this.#enterCall(principal, server, call));
        const key = await this.#countCall(principal, server, call);
        if (key !== undefined) counted.push(key);
      }
    } catch (error) {
      end();
      // a batch is refused as a whole
      for (const key of counted) await this.#giveBack(key, 1);
      throw error;
    }
    return end;
  }

  #enterCall(principal: string, server: string, { tool, amounts: { exchanges } }: LimitedCall): () => void {
    if (!exchanges) return () => undefined;
    const { value, source } = this.#deps.allowances.capped(exchanges, 'exchanges');
    const refused = (actual: number) => {
      const facts = { limit: 'limits.exchanges', allowed: value, actual, source };
      return new GatewayError('requests_limited', { ...facts, what: 'calls', tool, retryAfter: SOON_S });
    };
    const key = JSON.stringify([principal, server, exchanges.entry]);
    return enter(this.#calls, key, { count: 1, allowed: value, refused });
  }

  /** @returns the name under which it has been counted, if it has */
  async #countCall(principal: string, server: string, { tool, amounts }: LimitedCall): Promise<string | undefined> {
    const { requestsPerMinute: limit } = amounts;
    if (!limit) return undefined;
    const { value, source } = this.#deps.allowances.capped(limit, 'requestsPerMinute');
    const key = `rate:tool:${nameFor(JSON.stringify([principal, server, limit.entry]))}`;
    await this.#count(key, value, { count: 1 }, { tool, source });
    return key;
  }

  /** Lets an upload by a link begin. @throws GatewayError `requests_limited`, or the state store's error */
  async beginUpload(principal: string): Promise<() => void> {
    const { uploads } = await this.#deps.allowances.ofPrincipal(principal);
    return this.#enter('uploads', principal, uploads?.value);
  }

  /**
   * Lets a process of a server begin for a caller.
   * @returns what to call when it has ended
   * @throws GatewayError `process_limit`
   */
  beginProcess(identity: Identity, server: string): () => void {
    const { processes } = this.#deps.allowances.of(identity);
    // `principal`: another session of its own may make room
    const refused = (facts: ErrorFacts) =>
      new GatewayError('process_limit', { ...facts, server, full: 'principal', isOwnLimit: true });
    return this.#enter('processes', identity.principal, processes?.value, { refused });
  }

  /** Sessions that a caller may have at one time; undefined where that is not limited for it alone. */
  mostSessions(identity: Identity): number | undefined {
    return this.#deps.allowances.of(identity).sessions?.value;
  }

  #enter(
    name: UnderWay,
    principal: string,
    allowed: number | undefined,
    { count = 1, refused = limited(name) }: { count?: number; refused?: (facts: ErrorFacts) => GatewayError } = {},
  ): () => void {
    if (allowed === undefined) return () => undefined;
    const refuse = (actual: number) => refused({ limit: `limits.${name}`, allowed, actual });
    return enter(this.#underWay[name], principal, { count, allowed, refused: refuse });
  }

  /**
   * @param begun how many of the same message have been counted before
   * @param more facts of its refusal
   */
  async #count(
    key: string,
    allowed: number,
    { count, begun = 0 }: { count: number; begun?: number | undefined },
    more: ErrorFacts = {},
  ): Promise<void> {
    const change = { part: this.#span, by: count, ttlMs: MINUTE_MS };
    const { isWithin, total, fitsInMs = MINUTE_MS } = await this.#deps.state.tally(key, [change], allowed);
    if (isWithin) return;
    // a batch that is longer than the limit never fits
    const again = begun + count > allowed ? {} : { retryAfter: secondsOf(fitsInMs) };
    const facts = { limit: 'limits.requestsPerMinute', allowed, actual: total, ...again };
    throw new GatewayError('rate_limited', { ...facts, ...more });
  }

  /** What cannot be given back counts for its minute. */
  async #giveBack(key: string, count: number): Promise<void> {
    const change = { part: this.#span, by: -count, ttlMs: 1 };
    await this.#deps.state.tally(key, [change]).catch(() => undefined);
  }

  get #span(): string {
    return String(Math.floor(this.#deps.clock.now() / SPAN_MS) % (2 * SPANS));
  }
}

function rateOf(principal: string): string {
  return `rate:${nameFor(principal)}`;
}

function limited(what: UnderWay): (facts: ErrorFacts) => GatewayError {
  return (facts) => new GatewayError('requests_limited', { ...facts, what, retryAfter: SOON_S });
}

/** Counts as many more, as long as that is allowed. @returns what to call when they have ended */
function enter(
  counts: Map<string, number>,
  key: string,
  { count, allowed, refused }: { count: number; allowed: number; refused: (actual: number) => GatewayError },
): () => void {
  const actual = (counts.get(key) ?? 0) + count;
  if (actual > allowed) throw refused(actual);
  counts.set(key, actual);
  let isOver = false;
  return () => {
    if (isOver) return;
    isOver = true;
    const left = (counts.get(key) ?? count) - count;
    if (left > 0) counts.set(key, left);
    else counts.delete(key);
  };
}

/** Whole seconds, for `Retry-After`. */
export function secondsOf(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1000));
}
