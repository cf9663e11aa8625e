import type { Log } from '../ports/log.js';

/** Under way at one time. What is beyond is left to the sweeper, which looks for all that nothing points to. */
const MOST = 1000;

/**
 * What is removed after a failure. It runs on by itself: whoever waits for an error is told at once, and not after a
 * store that does not answer has not answered a second time.
 */
export class CleanUps {
  readonly #log: Log;
  readonly #running = new Set<Promise<void>>();

  constructor(log: Log) {
    this.#log = log;
  }

  /** Under way now. */
  get size(): number {
    return this.#running.size;
  }

  /** Begins one. @param key of the object that it is about, for the log */
  run(key: string, work: () => Promise<unknown>): void {
    if (this.#running.size >= MOST) {
      this.#log.warn({ key, cleanUps: this.#running.size }, 'left to the sweeper: too much is being removed already');
      return;
    }
    const running: Promise<void> = work()
      .then(
        () => undefined,
        (error) => this.#log.warn({ key, err: error }, 'could not remove an object'),
      )
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  /** Resolves when none is under way any more, or after `ms`. */
  async settled(ms: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, ms);
    });
    const all = async () => {
      while (this.#running.size > 0) await Promise.all(this.#running);
    };
    await Promise.race([all(), late]);
    clearTimeout(timer);
  }
}
