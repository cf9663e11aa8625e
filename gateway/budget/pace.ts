import { countRead } from './memory/read-memory.js';

/** How slowly a peer may send. */
export interface PaceLimits {
  /** `timeouts.idle`: milliseconds without a byte. */
  idleMs: number;
  /** `limits.leastRate`, bytes per second; 0 accepts any rate. */
  leastRate: number;
  /** `timeouts.grace`: milliseconds by which the peer may fall behind the least rate. */
  graceMs: number;
}

/** How a peer was too slow. `came`: bytes in all. `rate`: bytes per second since it last kept up. */
export type Slowness = { kind: 'silent'; came: number } | { kind: 'slow'; rate: number };

/** Longest pause between two checks, milliseconds: how late a peer may be given up. */
const LONGEST_LOOK_MS = 1000;

/**
 * Watches whether a peer sends what it owes. Sending slowly is allowed, dripping is not: a peer that sends a byte now
 * and then would hold memory for as long as it liked. A peer may fall behind the least rate by the grace time. Its
 * credit never exceeds the grace time, so a fast start does not buy hours of silence.
 *
 * Costs one timer per peer and a little arithmetic per chunk. Only time in which bytes are wanted counts.
 */
export class Pace {
  readonly #limits: PaceLimits;
  readonly #tooSlow: (slowness: Slowness) => void;
  /** When the missing bytes were first wanted; undefined while no bytes are wanted. */
  #since: number | undefined;
  /** Milliseconds of waiting since the last byte, before `#since`. */
  #silence = 0;
  /** Milliseconds without a byte until the peer is behind by more than the grace time. */
  #credit: number;
  #came = 0;
  /** Bytes, and milliseconds of waiting, since the credit was last full. */
  #bytes = 0;
  #waited = 0;
  #timer: NodeJS.Timeout | undefined;

  /** @param tooSlow called once, when the peer has been too slow */
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

  /** No bytes are wanted for now: the peer is not charged for the time. */
  rest(): void {
    this.#account(0);
    this.#since = undefined;
  }

  /** `bytes` have arrived. */
  took(bytes: number): void {
    this.#account(bytes);
    this.#came += bytes;
    this.#silence = 0;
    countRead(bytes);
  }

  /** Stops watching. */
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
    // the loop may have been busy: let it read what arrived meanwhile before checking
    return setTimeout(() => setImmediate(() => this.#look()), ms).unref();
  }

  #look(): void {
    if (this.#timer === undefined) return;
    this.#timer = undefined;
    if (this.#since === undefined) return;
    const { idleMs, leastRate } = this.#limits;
    this.#account(0);
    if (this.#silence >= idleMs) this.#tooSlow({ kind: 'silent', came: this.#came });
    else if (leastRate > 0 && this.#credit <= 0) this.#tooSlow({ kind: 'slow', rate: this.#rate });
    else this.#timer = this.#lookAgain();
  }

  get #rate(): number {
    return Math.floor(this.#bytes / (this.#waited / 1000));
  }
}
