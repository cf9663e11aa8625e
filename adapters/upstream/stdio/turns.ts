type Write = () => Promise<void>;

/**
 * Who writes to a pipe next. Nothing may come into the middle of a long line. Short lines that waited for its end go
 * before the next long one, so that a short line never waits for more than one, however many files are on their way;
 * they are written at once, so that a long line never waits for more than those that came before its turn.
 */
export class Turns {
  readonly #short: (() => void)[] = [];
  readonly #long: (() => void)[] = [];
  #isLong = false;

  /** Writes a short line, now or at the end of the long one under way. */
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
