import type { Owner } from '../ports/owner.js';
import { Line } from './collections/line.js';
import { Ledger, type Refusal } from './ledger.js';

interface WaitQueueOptions {
  ledger: Ledger;
  /** Longest time without any movement ahead of a waiter, `timeouts.queue`. */
  waitMs: number;
  /**
   * Most waiters; each owner has a share of them. Past it a waiter is refused at once. Absent when something else
   * bounds them.
   */
  most?: number;
  /**
   * Makes the error of a waiter that is given up. `waited`: milliseconds without movement; 0 when the queue itself was
   * full.
   */
  full: (refusal: Refusal, waited: number) => Error;
}

interface Waiter {
  /** Its place in the order of arrival. */
  order: number;
  amount: number;
  /** When it came: as all times here, by a clock that cannot be set. */
  since: number;
  grant: () => void;
}

/** The waiters of one owner, in order of arrival. */
interface OwnersLine {
  owner: Owner;
  waiters: Line<Waiter>;
  /** When this owner's first waiter, or one that came before it, was last granted. */
  movedAt: number;
}

/**
 * Holds waiters while a ledger is full. They are granted in order of arrival, so that small ones cannot starve a large
 * one. Only owners whose own share is full are passed over; they hold up nothing behind them.
 *
 * `waitMs` runs only while nothing moves ahead of a waiter. Each move leaves one less ahead of it, so every wait still
 * ends.
 */
export class WaitQueue {
  readonly #options: WaitQueueOptions;
  readonly #lines = new Map<string, OwnersLine>();
  readonly #places: Ledger;
  #arrived = 0;
  /** The process has no room for a waiter within its share: newcomers queue behind it. */
  #isHeldUp = false;

  constructor(options: WaitQueueOptions) {
    this.#options = options;
    const { ledger, most = Number.POSITIVE_INFINITY } = options;
    this.#places = new Ledger({ limit: ledger.limit, total: most, sharing: ledger.sharing });
  }

  /** Waiters now. */
  get length(): number {
    return this.#places.used;
  }

  /**
   * Counts `amount`, waiting for room. `undefined` means at once: the usual case, which costs no promise.
   * @throws the error of the options' `full`, or the signal's reason
   */
  take(amount: number, owner: Owner, signal: AbortSignal): Promise<void> | undefined {
    const { ledger, full } = this.#options;
    const mustWait = this.#isHeldUp || (this.length > 0 && this.#lines.has(keyOf(owner)));
    if (!mustWait && !ledger.take(amount, owner)) return undefined;
    if (this.#places.take(1, owner)) return Promise.reject(full(this.#reason(amount, owner), 0));
    return this.#wait(amount, owner, signal);
  }

  /** `amount` is free again. */
  give(amount: number, owner: Owner): void {
    this.#options.ledger.give(amount, owner);
    this.#grant();
  }

  #wait(amount: number, owner: Owner, signal: AbortSignal): Promise<void> {
    const { waitMs, full } = this.#options;
    return new Promise((resolve, reject) => {
      const line = this.#lineOf(owner);
      const leave = (): boolean => {
        if (!line.waiters.remove(place)) return false;
        this.#places.give(1, owner);
        if (line.waiters.first === undefined) this.#lines.delete(keyOf(owner));
        clearTimeout(timer);
        signal.removeEventListener('abort', aborted);
        return true;
      };
      const giveUp = (reason: unknown): void => {
        if (!leave()) return;
        reject(reason);
        // this one may have held up the others
        this.#grant();
      };
      const aborted = () => giveUp(signal.reason);
      const look = () => {
        const still = performance.now() - Math.max(line.movedAt, waiter.since);
        if (still >= waitMs) giveUp(full(this.#reason(amount, owner), waitMs));
        else timer = setTimeout(patience, waitMs - still);
      };
      // after a busy turn, read from the sockets what has moved meanwhile
      const patience = () => {
        setImmediate(() => {
          if (place.isIn) look();
        });
      };
      const waiter: Waiter = {
        order: this.#arrived++,
        amount,
        since: performance.now(),
        grant: () => {
          leave();
          resolve();
        },
      };
      let timer = setTimeout(patience, waitMs);
      const place = line.waiters.add(waiter);
      if (this.#reason(amount, owner).full === 'process') this.#isHeldUp = true;
      signal.addEventListener('abort', aborted, { once: true });
      if (signal.aborted) aborted();
    });
  }

  /** Why a waiter waits: what is full, or that others with the same right came first. */
  #reason(amount: number, owner: Owner): Refusal {
    const { ledger } = this.#options;
    return (
      ledger.refusal(amount, owner) ?? {
        full: 'process',
        limit: ledger.limit,
        allowed: ledger.total,
        actual: ledger.used + amount,
      }
    );
  }

  #lineOf(owner: Owner): OwnersLine {
    const key = keyOf(owner);
    const found = this.#lines.get(key);
    if (found) return found;
    const line: OwnersLine = { owner, waiters: new Line(), movedAt: 0 };
    this.#lines.set(key, line);
    return line;
  }

  /** Grants every waiter that there is room for. */
  #grant(): void {
    this.#isHeldUp = false;
    while (this.length > 0) {
      const next = this.#next();
      if (!next) return;
      const refusal = this.#options.ledger.take(next.waiter.amount, next.line.owner);
      if (refusal) {
        this.#isHeldUp = true;
        return;
      }
      this.#noteMove(next.waiter);
      next.waiter.grant();
    }
  }

  /** The first waiter whose owner's shares have room. One step per waiting owner, however many waiters each has. */
  #next(): { line: OwnersLine; waiter: Waiter } | undefined {
    const { ledger } = this.#options;
    let next: { line: OwnersLine; waiter: Waiter } | undefined;
    for (const line of this.#lines.values()) {
      const waiter = line.waiters.first;
      if (!waiter || (next && next.waiter.order < waiter.order)) continue;
      const refusal = ledger.refusal(waiter.amount, line.owner);
      if (!refusal || refusal.full === 'process') next = { line, waiter };
    }
    return next;
  }

  /** Restarts the wait of all that came after it: one less is ahead of them. */
  #noteMove(granted: Waiter): void {
    const now = performance.now();
    for (const line of this.#lines.values()) {
      const { first } = line.waiters;
      if (first && first.order >= granted.order) line.movedAt = now;
    }
  }
}

function keyOf({ principal = '', server = '' }: Owner): string {
  // neither can contain a NUL: one is a name in the config or a header, the other a name in the config
  return `${principal}\0${server}`;
}
