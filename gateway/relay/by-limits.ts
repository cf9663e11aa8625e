import { LateCache } from '../budget/collections/late-cache.js';
import type { Allowance } from '../policy/allowance.js';
import { type ExchangeLimits, type LimitsOfSide, lowestOf, MESSAGE_LIMITS } from '../policy/message-limits.js';
import type { Identity } from '../ports/identity.js';

/** Most sets of limits for which one server is kept. Each key and each entry of `callers` may be one. */
const MOST_KEPT = 1000;

/** Says what each caller may use. */
interface Callers {
  /** Some callers have limits of their own for each message. */
  readonly limitsMessages: boolean;
  of(identity: Identity): Allowance;
}

/**
 * A server as callers meet it whose limits differ: it is made once for each set of limits, over the same upstreams. All
 * limits of an exchange are those of the server that it is given to, so no place in the relay asks whose they are.
 */
export class ByLimits<One extends object> {
  readonly #limits: ExchangeLimits;
  readonly #callers: Callers;
  readonly #make: (limits: ExchangeLimits) => One;
  readonly #made = new LateCache<One>({ max: MOST_KEPT });
  /** Found before, so that a call costs two look-ups. Allowances live as long as their callers' credentials. */
  readonly #found = new WeakMap<Allowance, Map<LimitsOfSide | undefined, One | undefined>>();

  /** @param limits of the server for callers without limits of their own */
  constructor(limits: ExchangeLimits, callers: Callers, make: (limits: ExchangeLimits) => One) {
    this.#limits = limits;
    this.#callers = callers;
    this.#make = make;
  }

  /** False where the limits of all callers are the same. */
  get isOn(): boolean {
    return this.#callers.limitsMessages;
  }

  /**
   * The server for one caller.
   * @param host what the config says about the client's host: one of its objects
   * @param plain the server for all others
   */
  for(identity: Identity, host: LimitsOfSide | undefined, plain: One): One {
    const allowance = this.#callers.of(identity);
    let byHost = this.#found.get(allowance);
    if (!byHost) {
      byHost = new Map();
      this.#found.set(allowance, byHost);
    }
    if (!byHost.has(host)) byHost.set(host, this.#find(sideOf(allowance), host));
    return byHost.get(host) ?? plain;
  }

  #find(caller: LimitsOfSide, host: LimitsOfSide | undefined): One | undefined {
    const limits = lowestOf(this.#limits, caller, ...(host ? [host] : []));
    if (limits === this.#limits) return undefined;
    const key = JSON.stringify([MESSAGE_LIMITS.map((name) => limits[name]), limits.accept, limits.acceptResults]);
    const known = this.#made.get(key);
    if (known) return known;
    const made = this.#make(limits);
    this.#made.set(key, made);
    return made;
  }
}

function sideOf(allowance: Allowance): LimitsOfSide {
  const set = MESSAGE_LIMITS.flatMap((name) => {
    const limit = allowance[name];
    return limit ? [[name, limit.value] as const] : [];
  });
  const { accept, acceptResults } = allowance;
  return { ...Object.fromEntries(set), ...(accept && { accept }), ...(acceptResults && { acceptResults }) };
}
