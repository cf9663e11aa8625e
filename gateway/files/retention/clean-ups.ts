import type { LogFields } from '../../ports/log.js';

/** Most removals at one time. The rest is left to the sweeper, which finds every object without a record. */
const MOST = 1000;

/**
 * Removes objects after a failure, in the background: the caller gets its error at once and need not wait for a store
 * that has just failed to answer.
 */
export class CleanUps {
  readonly #warn: (fields: LogFields, text: string) => void;
  readonly #running = new Set<Promise<void>>();

  /** @param warn writes few lines of each text: while a store is away, every call that fails leaves an object behind */
  constructor(warn: (fields: LogFields, text: string) => void) {
    this.#warn = warn;
  }

  /** Under way now. */
  get size(): number {
    return this.#running.size;
  }

  /** Begins one. @param key key of the object, for the log */
  run(key: string, work: () => Promise<unknown>): void {
    if (this.#running.size >= MOST) {
      this.#warn({ key, cleanUps: this.#running.size }, 'left to the sweeper: too many removals are running');
      return;
    }
    const running: Promise<void> = work()
      .then(
        () => undefined,
        (error) => this.#warn({ key, err: error }, 'could not remove an object'),
      )
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  /** Resolves when none is running, or after `ms`. */
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
