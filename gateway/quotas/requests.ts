import { GatewayError } from '../errors.js';
import type { CallerLimit } from '../policy/allowance.js';
import type { Clock } from '../ports/clock.js';
import type { Identity } from '../ports/identity.js';
import type { StateStore } from '../ports/state-store.js';
import { type Allowances, nameFor } from './allowances.js';

const MINUTE_MS = 60_000;
/** A minute is counted in this many spans, so that it can begin at any of them. */
const SPANS = 12;
const SPAN_MS = MINUTE_MS / SPANS;

export interface RequestQuotasDeps {
  allowances: Allowances;
  state: Pick<StateStore, 'tally'>;
  clock: Clock;
}

/** What each caller may send: how many requests in a minute, and how many of them, and of uploads, at one time. */
export class RequestQuotas {
  readonly #deps: RequestQuotasDeps;
  readonly #underWay = { exchanges: new Map<string, number>(), uploads: new Map<string, number>() };

  constructor(deps: RequestQuotasDeps) {
    this.#deps = deps;
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
      if (requestsPerMinute) await this.#count(identity.principal, requestsPerMinute.value);
    } catch (error) {
      end();
      throw error;
    }
    return end;
  }

  /** Lets an upload by a link begin. @throws GatewayError `requests_limited`, or the state store's error */
  async beginUpload(principal: string): Promise<() => void> {
    const { uploads } = await this.#deps.allowances.ofPrincipal(principal);
    return this.#enter('uploads', principal, uploads?.value);
  }

  #enter(limit: Extract<CallerLimit, 'exchanges' | 'uploads'>, principal: string, allowed: number | undefined) {
    if (allowed === undefined) return () => undefined;
    const counts = this.#underWay[limit];
    const actual = (counts.get(principal) ?? 0) + 1;
    if (actual > allowed) {
      throw new GatewayError('requests_limited', { limit: `limits.${limit}`, what: limit, allowed, actual });
    }
    counts.set(principal, actual);
    return () => {
      const left = (counts.get(principal) ?? 1) - 1;
      if (left > 0) counts.set(principal, left);
      else counts.delete(principal);
    };
  }

  async #count(principal: string, allowed: number): Promise<void> {
    const { state, clock } = this.#deps;
    const part = String(Math.floor(clock.now() / SPAN_MS) % (2 * SPANS));
    const change = { part, by: 1, ttlMs: MINUTE_MS };
    const {
      isWithin,
      total,
      fitsInMs = MINUTE_MS,
    } = await state.tally(`rate:${nameFor(principal)}`, [change], allowed);
    if (isWithin) return;
    const facts = { limit: 'limits.requestsPerMinute', allowed, actual: total, retryAfter: secondsOf(fitsInMs) };
    throw new GatewayError('rate_limited', facts);
  }
}

/** Whole seconds, for `Retry-After`. */
export function secondsOf(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1000));
}
