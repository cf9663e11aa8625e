type Write = () => Promise<void>;

/**
 * Decides which line is written to a pipe next. Nothing may come inside a long line. Short lines that waited for its
 * end go before the next long one, so a short line waits for at most one long line, however many files are under way.
 * They are written at once, so a long line waits only for lines that came before its turn.
 */
export class Turns {
  readonly #short: (() => void)[] = [];
  readonly #long: (() => void)[] = [];
  #isLong = false;

  /** Writes a short line, now or at the end of the current long one. */
  short(write: Write): Promise<void> {
    return this.#isLong ? waiting(this.#short, write) : write();
  }

  /** Writes a long line when it is its turn. */
  long(write: Write): Promise<void> {
    const run = (): Promise<void> => {
      this.#isLong = true;
      return write().finally(() => this.#next());
    };
    return this.#isLong ? waiting(this.#long, run) : run();
  }

  #next(): void {
    this.#isLong = false;
    for (const write of this.#short.splice(0)) write();
    this.#long.shift()?.();
  }
}

function waiting(queue: (() => void)[], write: Write): Promise<void> {
  return new Promise((resolve, reject) => {
    queue.push(() => void write().then(resolve, reject));
  });
}
