/** What a gateway has opened and ends by itself, the last one first. */
export class Closers {
  readonly #all: (() => Promise<void>)[] = [];

  add(close: () => Promise<void>): void {
    this.#all.unshift(close);
  }

  /** Ends everything at once. One that fails keeps none from its end. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#all.map((close) => close()));
  }
}
