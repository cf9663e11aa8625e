/** What a gateway has opened and ends by itself. */
export class Closers {
  readonly #users: (() => Promise<void>)[] = [];
  readonly #parts: (() => Promise<void>)[] = [];

  add(close: () => Promise<void>): void {
    this.#users.push(close);
  }

  /** @param close ends a store, the audit log or another part that all the rest uses */
  addPart(close: () => Promise<void>): void {
    this.#parts.push(close);
  }

  /**
   * Ends everything, the parts after what uses them: a session that ends is removed from the store, and recorded. Within
   * both, everything ends at once. One that fails keeps none from its end.
   */
  async close(): Promise<void> {
    await Promise.allSettled(this.#users.map((close) => close()));
    await Promise.allSettled(this.#parts.map((close) => close()));
  }
}
