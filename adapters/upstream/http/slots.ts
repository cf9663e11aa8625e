import { GatewayError } from '../../../gateway/errors.js';
import { abortFailure } from './failure.js';

interface Waiter {
  go(): void;
}

/**
 * The requests that may be under way at one time. The Agent's own queue would let them wait for ever, so a request
 * takes a slot first. At most as many wait as may run: a longer queue could not be served in time anyway.
 */
export class Slots {
  readonly #server: string;
  readonly #limit: number;
  readonly #waitMs: number;
  readonly #waiting = new Set<Waiter>();
  #taken = 0;

  /** @param waitMs longest wait, `timeouts.queue` */
  constructor(server: string, limit: number, waitMs: number) {
    this.#server = server;
    this.#limit = limit;
    this.#waitMs = waitMs;
  }

  /**
   * Undefined when a slot was free at once, which is the usual case and costs no turn of the event loop.
   * @throws GatewayError `connection_limit`, or the signal's reason
   */
  take(signal: AbortSignal): Promise<void> | undefined {
    if (this.#taken < this.#limit) {
      this.#taken++;
      return undefined;
    }
    if (this.#waiting.size >= this.#limit) return Promise.reject(this.#full());
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', abort);
        this.#waiting.delete(waiter);
      };
      const abort = (): void => {
        leave();
        reject(abortFailure(this.#server, signal));
      };
      const waiter: Waiter = {
        go: () => {
          leave();
          resolve();
        },
      };
      const timer = setTimeout(() => {
        leave();
        reject(this.#full());
      }, this.#waitMs);
      signal.addEventListener('abort', abort);
      this.#waiting.add(waiter);
    });
  }

  /** Hands the slot to the request that has waited longest. */
  give(): void {
    const [first] = this.#waiting;
    if (first === undefined) this.#taken--;
    else first.go();
  }

  #full(): GatewayError {
    return new GatewayError('connection_limit', {
      server: this.#server,
      limit: 'limits.connections',
      allowed: this.#limit,
    });
  }
}
