import { type ErrorFacts, GatewayError } from '../errors.js';
import type { CallerLimit } from '../policy/allowance.js';
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

export interface RequestQuotasDeps {
  allowances: Allowances;
  state: Pick<StateStore, 'tally'>;
  clock: Clock;
}

/** What is counted while it lasts. */
type UnderWay = Extract<CallerLimit, 'exchanges' | 'uploads' | 'processes'>;

/** What each caller may send and have: how many requests in a minute, and how much of what at one time. */
export class RequestQuotas {
  readonly #deps: RequestQuotasDeps;
  readonly #underWay: Readonly<Record<UnderWay, Map<string, number>>> = {
    exchanges: new Map(),
    uploads: new Map(),
    processes: new Map(),
  };

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
    const counts = this.#underWay[name];
    const actual = (counts.get(principal) ?? 0) + 1;
    if (actual > allowed) throw refused({ limit: `limits.${name}`, allowed, actual });
    counts.set(principal, actual);
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
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
