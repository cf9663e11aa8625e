import type { Log } from '../ports/log.js';

/** What a gateway has opened and ends by itself. */
export class Closers {
  readonly #users: (() => Promise<void>)[] = [];
  readonly #parts: (() => Promise<void>)[] = [];
  readonly #log: Pick<Log, 'error'>;

  constructor(log: Pick<Log, 'error'>) {
    this.#log = log;
  }

  add(close: () => Promise<void>): void {
    this.#users.push(close);
  }

  /** @param close ends a store, the audit log or another part that all the rest uses */
  addPart(close: () => Promise<void>): void {
    this.#parts.push(close);
  }

  /**
   * Ends everything, the parts after what uses them: a session that ends is removed from the store, and recorded. Within
   * both, everything ends at once. One that fails keeps none from its end; the log has its error.
   */
  async close(): Promise<void> {
    for (const closes of [this.#users, this.#parts]) {
      for (const ended of await Promise.allSettled(closes.map((close) => close())))
        if (ended.status === 'rejected') this.#log.error({ err: ended.reason }, 'A part could not end as it should.');
    }
  }
}
