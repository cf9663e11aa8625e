interface Running<Value> {
  result: Promise<Value>;
  /** Gives the work up. */
  stop: AbortController;
  /** Callers that still wait. */
  waiting: number;
}

/**
 * Work that several callers want at one time, done once. It has a signal of its own: a caller that gives up fails alone,
 * and only when the last one has given up is the work given up as well.
 */
export class SharedWork<Value> {
  readonly #running = new Map<string, Running<Value>>();

  /**
   * Joins what is under way for `key`, or begins it.
   * @throws what the work throws, or the reason of `signal`
   */
  async run(key: string, signal: AbortSignal, work: (signal: AbortSignal) => Promise<Value>): Promise<Value> {
    signal.throwIfAborted();
    const running = this.#running.get(key) ?? this.#begin(key, work);
    running.waiting += 1;
    let leave = (): void => undefined;
    const left = new Promise<never>((_resolve, reject) => {
      leave = () => reject(signal.reason);
      signal.addEventListener('abort', leave);
    });
    try {
      return await Promise.race([running.result, left]);
    } finally {
      signal.removeEventListener('abort', leave);
      running.waiting -= 1;
      if (running.waiting === 0 && this.#forget(key, running)) running.stop.abort(signal.reason);
    }
  }

  #begin(key: string, work: (signal: AbortSignal) => Promise<Value>): Running<Value> {
    const stop = new AbortController();
    const result = work(stop.signal).finally(() => this.#forget(key, running));
    const running: Running<Value> = { result, stop, waiting: 0 };
    this.#running.set(key, running);
    return running;
  }

  /** Whoever comes from now on begins anew. False when that had been so. */
  #forget(key: string, running: Running<Value>): boolean {
    return this.#running.get(key) === running && this.#running.delete(key);
  }
}
