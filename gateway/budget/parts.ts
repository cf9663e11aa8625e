import { GatewayError } from '../errors.js';
import type { Owner, OwnerSide } from '../ports/owner.js';
import { type Ledger, refusalFacts } from './ledger.js';
import { WaitQueue } from './wait-queue.js';

/**
 * The budget of part buffers (`limits.partMemory`). It makes peak memory independent of how many files are stored at
 * once. When it is full, reservations wait in order of arrival.
 */
export class PartBudget {
  readonly #ledger: Ledger;
  readonly #queue: WaitQueue;

  /** @param waitMs `timeouts.queue` */
  constructor(ledger: Ledger, waitMs: number) {
    this.#ledger = ledger;
    this.#queue = new WaitQueue({
      ledger,
      waitMs,
      full: (refusal, waited) => new GatewayError('part_memory_full', { ...refusalFacts(refusal), waited }),
    });
  }

  /** To be called after the ledger's total has changed: reservations that wait may fit into it. */
  lookAgain(): void {
    this.#queue.give(0, {});
  }

  /** Bytes reserved now. */
  get used(): number {
    return this.#ledger.used;
  }

  /** The largest use by one principal, or by one server. Reads all of them: for metrics. */
  largest(side: OwnerSide): number {
    return this.#ledger.largest(side);
  }

  /** Reservations waiting now. */
  get queued(): number {
    return this.#queue.length;
  }

  /**
   * Reserves `bytes`. `undefined` means granted at once: the usual case, which costs no promise.
   * @throws GatewayError `part_memory_full` when nothing moved ahead of it for `timeouts.queue`
   */
  reserve(bytes: number, owner: Owner, signal: AbortSignal): Promise<void> | undefined {
    return this.#queue.take(bytes, owner, signal);
  }

  release(bytes: number, owner: Owner): void {
    this.#queue.give(bytes, owner);
  }
}
