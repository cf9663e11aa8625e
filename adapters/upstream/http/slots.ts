import { Ledger, refusalFacts } from '../../../gateway/budget/ledger.js';
import { WaitQueue } from '../../../gateway/budget/wait-queue.js';
import { GatewayError } from '../../../gateway/errors.js';
import type { Owner, Sharing } from '../../../gateway/ports/owner.js';
import { abortFailure } from './failure.js';

export interface SlotsOptions {
  /** The server's name in the config, for errors. */
  server: string;
  /** `limits.connections` */
  limit: number;
  /** Longest wait while nothing moves, `timeouts.queue`. */
  waitMs: number;
  /** Most that wait. Default: as many as may run. */
  queue?: number | undefined;
  sharing: Sharing;
}

/**
 * The part of the slots that streams may take which the server keeps open on its own account. Each session has one and
 * keeps it for hours: without a bound of their own they would leave no slot for requests.
 */
const STREAMS = 0.75;

/**
 * The requests that may be under way at one time. The Agent's own queue would let them wait for ever, so a request
 * takes a slot first. At most as many wait as may run: a longer queue could not be served in time anyway. A caller whose
 * share is taken waits without holding up others.
 */
export class Slots {
  readonly #server: string;
  readonly #requests: WaitQueue;
  readonly #streams: Ledger;

  constructor({ server, limit, waitMs, queue = limit, sharing }: SlotsOptions) {
    this.#server = server;
    const ledger = new Ledger({ limit: 'limits.connections', total: limit, sharing });
    this.#requests = new WaitQueue({
      ledger,
      waitMs,
      most: queue,
      full: (refusal) => new GatewayError('connection_limit', { ...refusalFacts(refusal), server }),
    });
    const total = Math.max(1, Math.floor(limit * STREAMS));
    this.#streams = new Ledger({ limit: 'limits.connections', total, sharing });
  }

  /**
   * Undefined when a slot was free at once, which is the usual case and costs no turn of the event loop.
   * @param isStream it is the server's own stream to a session, and not a request
   * @throws GatewayError `connection_limit`, or the signal's reason
   */
  take(owner: Owner, isStream: boolean, signal: AbortSignal): Promise<void> | undefined {
    const refusal = isStream ? this.#streams.take(1, owner) : undefined;
    if (refusal) {
      // it will not end soon: nothing is gained by waiting
      const facts = { ...refusalFacts(refusal), server: this.#server };
      return Promise.reject(new GatewayError('connection_limit', facts));
    }
    return this.#requests.take(1, owner, signal)?.catch((error) => {
      if (isStream) this.#streams.give(1, owner);
      throw signal.aborted ? abortFailure(this.#server, signal) : error;
    });
  }

  /** Hands the slot to the request that has waited longest and may have it. */
  give(owner: Owner, isStream: boolean): void {
    if (isStream) this.#streams.give(1, owner);
    this.#requests.give(1, owner);
  }
}
