/**
 * What exists only for the calls of one POST, such as copies of files that a server takes by their paths. It is removed with
 * the last of what may still need it: a request without an answer, or a task that one of them has become.
 */
export class CallFiles {
  readonly #needing: Set<string>;
  readonly #remove: () => Promise<void>;

  /** @param ids of the requests on the channel, as JSON text */
  constructor(ids: Iterable<string>, remove: () => Promise<void>) {
    this.#needing = new Set(ids);
    this.#remove = remove;
  }

  /** One of the requests has become this task. */
  neededBy(task: string): void {
    this.#needing.add(task);
  }

  /**
   * These no longer need it: requests that were answered, cancelled or given up, and tasks that are over.
   * @returns set until it is removed, where nothing needs it any longer
   */
  over(needing: Iterable<string>): Promise<void> | undefined {
    for (const one of needing) this.#needing.delete(one);
    return this.#needing.size === 0 ? this.#remove() : undefined;
  }
}
