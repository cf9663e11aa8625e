/** How often it looks at the time. */
const EVERY_MS = 25;

/** Tells how long this process could do nothing of late, by timers that came too late: what arrives meanwhile seems to arrive together. */
export class HeldUp {
  readonly #within: number;
  /** Of the last `within` ms, at most one for each look. */
  #waits: { ms: number; until: number }[] = [];
  #last = performance.now();
  readonly #timer: NodeJS.Timeout;

  /** @param within how far it looks back, ms */
  constructor(within: number) {
    this.#within = within;
    this.#timer = setInterval(() => this.#look(), EVERY_MS).unref();
  }

  /** All of it, ms. */
  lately(): number {
    this.#look();
    return Math.round(this.#waits.reduce((sum, { ms }) => sum + ms, 0));
  }

  end(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const now = performance.now();
    this.#waits = this.#waits.filter(({ until }) => now - until <= this.#within);
    // a timer that is a little late holds up nothing
    const ms = now - this.#last - 2 * EVERY_MS;
    if (ms > 0) this.#waits.push({ ms, until: now });
    this.#last = now;
  }
}
