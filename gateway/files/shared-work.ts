interface Running<Value> {
  result: Promise<Value>;
  /** Aborts the work. */
  stop: AbortController;
  /** Number of callers that still wait. */
  waiting: number;
}

/**
 * Does work once that several callers want at the same time. The work has its own signal: a caller that gives up fails
 * alone, and the work is aborted only when the last caller has given up.
 */
export class SharedWork<Value> {
  readonly #running = new Map<string, Running<Value>>();

  /**
   * Joins the running work for `key`, or begins it.
   * @throws the work's error, or the reason of `signal`
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

  /** Makes the next caller begin anew. False when this work was forgotten already. */
  #forget(key: string, running: Running<Value>): boolean {
    return this.#running.get(key) === running && this.#running.delete(key);
  }
}
