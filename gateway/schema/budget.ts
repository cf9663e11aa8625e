/**
 * How much of a schema may still be read. Ten branches that each refer back to their union make 10^16 paths: one
 * hostile tool must not block the process.
 */
export class Budget {
  #left: number;

  constructor(steps: number) {
    this.#left = steps;
  }

  /** Takes steps. @returns false once the budget is used up: then no more can be decided */
  take(steps = 1): boolean {
    this.#left -= steps;
    return !this.isSpent;
  }

  get isSpent(): boolean {
    return this.#left < 0;
  }
}

/** For one question about all arguments of a tool. */
export function budgetOfTool(): Budget {
  return new Budget(10_000);
}
