import type { AuditEntry } from '../ports/audit.js';
import type { Clock } from '../ports/clock.js';

/** Entries per kind and window. */
const MOST = 60;
const WINDOW_MS = 60_000;

/**
 * Bounds the entries about refused callers without a name. Every program that reaches the port can cause one, and must
 * not be able to fill the disk, or to push older entries out of it. What is left out is counted.
 */
export class UnknownCallers {
  readonly #clock: Clock;
  /** By the code of the error, of which there is a closed list. */
  readonly #windows = new Map<string, { begin: number; count: number }>();
  #leftOut = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** How many entries have been left out and not been said so far. */
  get leftOut(): number {
    return this.#leftOut;
  }

  mayNote({ what, code = '' }: AuditEntry): boolean {
    const now = this.#clock.now();
    const kind = `${what} ${code}`;
    const window = this.#windows.get(kind);
    // or before it: a clock may be set back
    if (window === undefined || Math.abs(now - window.begin) >= WINDOW_MS) {
      this.#windows.set(kind, { begin: now, count: 1 });
      return true;
    }
    window.count += 1;
    if (window.count <= MOST) return true;
    this.#leftOut += 1;
    return false;
  }

  /** A line says that so many were left out. */
  told(count: number): void {
    this.#leftOut -= count;
  }
}
