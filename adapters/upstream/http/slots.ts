import { Ledger, refusalFacts } from '../../../gateway/budget/ledger.js';
import { WaitQueue } from '../../../gateway/budget/wait-queue.js';
import { GatewayError } from '../../../gateway/errors.js';
import type { Owner, Sharing } from '../../../gateway/ports/owner.js';
import { abortFailure } from './failure.js';

interface SlotsOptions {
  /** The server's name in the config, for errors. */
  server: string;
  /** `limits.connections` */
  limit: number;
  /** Longest wait while nothing moves, `timeouts.queue`. */
  waitMs: number;
  /** Most waiting requests. Default: the number of slots. */
  queue?: number | undefined;
  sharing: Sharing;
}

/**
 * The part of the slots for streams that the server keeps open on its own account. Each session has one for hours:
 * without this bound they would leave no slot for requests.
 */
const STREAMS = 0.75;

/**
 * Bounds the concurrent requests: each takes a slot before it takes a connection. At most as many wait as there are slots,
 * because a longer queue could not be served in time. A caller whose share is full waits without holding up others.
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
   * Undefined when a slot was free: the usual case, which costs no turn of the event loop.
   * @param isStream true for the server's own stream to a session, false for a request
   * @throws GatewayError `connection_limit`, or the signal's reason
   */
  take(owner: Owner, isStream: boolean, signal: AbortSignal): Promise<void> | undefined {
    const refusal = isStream ? this.#streams.take(1, owner) : undefined;
    if (refusal) {
      // streams do not end soon, so waiting is pointless
      const facts = { ...refusalFacts(refusal), server: this.#server };
      return Promise.reject(new GatewayError('connection_limit', facts));
    }
    return this.#requests.take(1, owner, signal)?.catch((error) => {
      if (isStream) this.#streams.give(1, owner);
      throw signal.aborted ? abortFailure(this.#server, signal) : error;
    });
  }

  /** Passes the slot to the request that has waited longest and may have it. */
  give(owner: Owner, isStream: boolean): void {
    if (isStream) this.#streams.give(1, owner);
    this.#requests.give(1, owner);
  }
}
