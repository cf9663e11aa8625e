import { GatewayError } from '../errors.js';
import type { Limits } from '../policy/limits.js';

interface Waiter {
  bytes: number;
  grant: () => void;
}

/**
 * The process-wide budget of part buffers (`limits.partMemory`): what makes peak memory independent of how many files
 * are stored at once. Reservations are granted in arrival order, so a large one cannot be starved by small ones.
 */
export class PartBudget {
  readonly #limit: number;
  readonly #queueTimeoutMs: number;
  readonly #waiters: Waiter[] = [];
  #used = 0;

  constructor(limit: number, queueTimeoutMs: number) {
    this.#limit = limit;
    this.#queueTimeoutMs = queueTimeoutMs;
  }

  /** Bytes reserved now. */
  get used(): number {
    return this.#used;
  }

  /** Reservations waiting now. */
  get queued(): number {
    return this.#waiters.length;
  }

  /**
   * Reserves `bytes`; `undefined` means granted at once, which is the usual case and costs no promise.
   * @throws GatewayError `part_memory_full` after `timeouts.queue`
   */
  reserve(bytes: number, signal: AbortSignal): Promise<void> | undefined {
    if (this.#waiters.length === 0 && this.#used + bytes <= this.#limit) {
      this.#used += bytes;
      return undefined;
    }
    return new Promise((resolve, reject) => {
      const leave = (reason: unknown): void => {
        const at = this.#waiters.indexOf(waiter);
        if (at < 0) return;
        this.#waiters.splice(at, 1);
        finish();
        this.#grantNext();
        reject(reason);
      };
      const full = () =>
        leave(
          new GatewayError('part_memory_full', {
            limit: 'limits.partMemory',
            allowed: this.#limit,
            waited: this.#queueTimeoutMs,
          }),
        );
      const aborted = () => leave(signal.reason);
      const timer = setTimeout(full, this.#queueTimeoutMs);
      const finish = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', aborted);
      };
      const waiter: Waiter = {
        bytes,
        grant: () => {
          finish();
          resolve();
        },
      };
      this.#waiters.push(waiter);
      signal.addEventListener('abort', aborted, { once: true });
      if (signal.aborted) aborted();
    });
  }

  release(bytes: number): void {
    this.#used -= bytes;
    this.#grantNext();
  }

  #grantNext(): void {
    for (let next = this.#waiters[0]; next && this.#used + next.bytes <= this.#limit; next = this.#waiters[0]) {
      this.#waiters.shift();
      this.#used += next.bytes;
      next.grant();
    }
  }
}

/**
 * The process-wide count of bytes in held messages (`limits.held`). It never waits: a message that waited for others
 * while holding its own bytes could wait for ever.
 */
export class HeldBudget {
  readonly #limit: number;
  #used = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get used(): number {
    return this.#used;
  }

  /** @throws GatewayError `held_full` when more bytes are held than the limit; they count all the same until released. */
  add(bytes: number): void {
    this.#used += bytes;
    if (bytes > 0 && this.#used > this.#limit)
      throw new GatewayError('held_full', { limit: 'limits.held', allowed: this.#limit });
  }
}

/**
 * A large message of a client's is there as its chunks, its bytes, its text and the strings of its arguments at the same
 * time: 200 MB of them took 1.26 GB.
 */
const COPIES = 4;

/**
 * What one message of a client's counts against `limits.held`, while it arrives and until its exchange is over: its
 * bytes, and as many copies of them as there may be once it is longer than `limits.message`. The same for both faces.
 */
export class HeldRequest {
  readonly #budget: HeldBudget;
  readonly #limits: Pick<Limits, 'message'>;
  #bytes = 0;
  #counted = 0;

  constructor(budget: HeldBudget, limits: Pick<Limits, 'message'>) {
    this.#budget = budget;
    this.#limits = limits;
  }

  /** More of it has come. @throws GatewayError `held_full`; it counts all the same until it is released */
  grow(bytes: number): void {
    this.#bytes += bytes;
    const counted = this.#bytes > this.#limits.message ? this.#bytes * COPIES : this.#bytes;
    const more = counted - this.#counted;
    this.#counted = counted;
    this.#budget.add(more);
  }

  /** Nothing of it is held any more. */
  release(): void {
    const counted = this.#counted;
    this.#bytes = 0;
    this.#counted = 0;
    this.#budget.add(-counted);
  }
}
