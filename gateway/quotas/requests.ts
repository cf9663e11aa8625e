import { type ErrorFacts, GatewayError } from '../errors.js';
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

/** When one of a caller's own requests may have ended: `Retry-After`, in seconds. */
const SOON_S = 5;

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
  async begin(identity: Identity): Promise<() => void> {
    const { exchanges, requestsPerMinute } = this.#deps.allowances.of(identity);
    const end = this.#enter('exchanges', identity.principal, exchanges?.value);
    try {
      if (requestsPerMinute) await this.#count(`rate:${nameFor(identity.principal)}`, requestsPerMinute.value);
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
    try {
      for (const call of calls) {
        ends.push(this.#enterCall(principal, server, call));
        await this.#countCall(principal, server, call);
      }
    } catch (error) {
      end();
      throw error;
    }
    return end;
  }

  #enterCall(principal: string, server: string, { tool, amounts: { exchanges } }: LimitedCall): () => void {
    if (!exchanges) return () => undefined;
    const { value, source } = this.#deps.allowances.capped(exchanges, 'exchanges');
    return enter(this.#calls, JSON.stringify([principal, server, exchanges.entry]), value, (actual) => {
      const facts = { limit: 'limits.exchanges', allowed: value, actual, source };
      return new GatewayError('requests_limited', { ...facts, what: 'calls', tool, retryAfter: SOON_S });
    });
  }

  async #countCall(principal: string, server: string, { tool, amounts }: LimitedCall): Promise<void> {
    const { requestsPerMinute: limit } = amounts;
    if (!limit) return;
    const { value, source } = this.#deps.allowances.capped(limit, 'requestsPerMinute');
    await this.#count(`rate:tool:${nameFor(JSON.stringify([principal, server, limit.entry]))}`, value, {
      tool,
      source,
    });
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
    return this.#enter('processes', identity.principal, processes?.value, (facts) => {
      // `principal`: another session of its own may make room
      return new GatewayError('process_limit', { ...facts, server, full: 'principal', isOwnLimit: true });
    });
  }

  /** Sessions that a caller may have at one time; undefined where that is not limited for it alone. */
  mostSessions(identity: Identity): number | undefined {
    return this.#deps.allowances.of(identity).sessions?.value;
  }

  #enter(
    name: UnderWay,
    principal: string,
    allowed: number | undefined,
    refused = (facts: ErrorFacts) => new GatewayError('requests_limited', { ...facts, what: name, retryAfter: SOON_S }),
  ): () => void {
    if (allowed === undefined) return () => undefined;
    return enter(this.#underWay[name], principal, allowed, (actual) =>
      refused({ limit: `limits.${name}`, allowed, actual }),
    );
  }

  /** @param more facts of its refusal */
  async #count(key: string, allowed: number, more: ErrorFacts = {}): Promise<void> {
    const { state, clock } = this.#deps;
    const part = String(Math.floor(clock.now() / SPAN_MS) % (2 * SPANS));
    const change = { part, by: 1, ttlMs: MINUTE_MS };
    const { isWithin, total, fitsInMs = MINUTE_MS } = await state.tally(key, [change], allowed);
    if (isWithin) return;
    const facts = { limit: 'limits.requestsPerMinute', allowed, actual: total, retryAfter: secondsOf(fitsInMs) };
    throw new GatewayError('rate_limited', { ...facts, ...more });
  }
}

/** Counts one more, as long as that is allowed. @returns what to call when it has ended */
function enter(
  counts: Map<string, number>,
  key: string,
  allowed: number,
  refused: (actual: number) => GatewayError,
): () => void {
  const actual = (counts.get(key) ?? 0) + 1;
  if (actual > allowed) throw refused(actual);
  counts.set(key, actual);
  let isOver = false;
  return () => {
    if (isOver) return;
    isOver = true;
    const left = (counts.get(key) ?? 1) - 1;
    if (left > 0) counts.set(key, left);
    else counts.delete(key);
  };
}

/** Whole seconds, for `Retry-After`. */
export function secondsOf(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1000));
}
