/** How slowly a peer may send. */
export interface PaceLimits {
  /** `timeouts.idle`: milliseconds without a byte. */
  idleMs: number;
  /** `limits.leastRate`, bytes per second; 0 is any. */
  leastRate: number;
  /** `timeouts.grace`: milliseconds by which it may fall behind the least rate. */
  graceMs: number;
}

/** What a peer has failed to do. `rate`: the bytes per second since it last kept up. */
export type Slowness = { kind: 'silent' } | { kind: 'slow'; rate: number };

/** The longest pause between two looks, milliseconds: how much later than due a peer may be given up. */
const LONGEST_LOOK_MS = 1000;

/**
 * Watches whether a peer sends what it owes. Slow is allowed, dripping is not: who sends a byte now and then would hold
 * memory for as long as it liked. A peer may fall behind the least rate by the grace time, and never has more than that
 * to its credit, so that what it sent at first does not buy it hours of silence.
 *
 * One timer per peer, and per chunk no more than some arithmetic. Only the time counts in which bytes are wanted.
 */
export class Pace {
  readonly #limits: PaceLimits;
  readonly #tooSlow: (slowness: Slowness) => void;
  /** When bytes were first wanted that have not come; undefined while none are. */
  #since: number | undefined;
  /** Milliseconds of waiting since the last byte, before `#since`. */
  #silence = 0;
  /** Milliseconds that may still pass without a byte until the peer is behind by more than the grace time. */
  #credit: number;
  /** Since the credit was last full: bytes, and milliseconds of waiting. */
  #bytes = 0;
  #waited = 0;
  #timer: NodeJS.Timeout | undefined;

  /** @param tooSlow called once, when the peer is to be given up */
  constructor(limits: PaceLimits, tooSlow: (slowness: Slowness) => void) {
    this.#limits = limits;
    this.#tooSlow = tooSlow;
    this.#credit = limits.graceMs;
  }

  /** Bytes are wanted from now on. */
  want(): void {
    this.#since ??= performance.now();
    this.#timer ??= this.#lookAgain();
  }

  /** No bytes are wanted for now: what time passes is not the peer's. */
  rest(): void {
    this.#account(0);
    this.#since = undefined;
  }

  /** So many bytes have come. */
  took(bytes: number): void {
    this.#account(bytes);
    this.#silence = 0;
  }

  /** It is over: nothing is watched any more. */
  end(): void {
    clearTimeout(this.#timer);
    this.#since = undefined;
    this.#timer = undefined;
  }

  #account(bytes: number): void {
    const { leastRate, graceMs } = this.#limits;
    if (this.#since !== undefined) {
      const now = performance.now();
      const passed = now - this.#since;
      this.#since = now;
      this.#silence += passed;
      this.#waited += passed;
      this.#credit -= passed;
    }
    this.#bytes += bytes;
    if (leastRate > 0) this.#credit += (bytes / leastRate) * 1000;
    if (this.#credit < graceMs) return;
    this.#credit = graceMs;
    this.#bytes = 0;
    this.#waited = 0;
  }

  #lookAgain(): NodeJS.Timeout {
    const { idleMs, graceMs, leastRate } = this.#limits;
    const ms = Math.min(LONGEST_LOOK_MS, idleMs, leastRate > 0 ? graceMs : idleMs);
    // the loop may have been busy: what has come meanwhile is read first, between the timers and this
    return setTimeout(() => setImmediate(() => this.#look()), ms).unref();
  }

  #look(): void {
    if (this.#timer === undefined) return;
    this.#timer = undefined;
    if (this.#since === undefined) return;
    const { idleMs, leastRate } = this.#limits;
    this.#account(0);
    if (this.#silence >= idleMs) this.#tooSlow({ kind: 'silent' });
    else if (leastRate > 0 && this.#credit <= 0) this.#tooSlow({ kind: 'slow', rate: this.#rate });
    else this.#timer = this.#lookAgain();
  }

  get #rate(): number {
    return Math.floor(this.#bytes / (this.#waited / 1000));
  }
}
