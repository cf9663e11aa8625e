import type { HeldBudget } from '../../budget/held.js';
import type { Owner } from '../../ports/owner.js';

/** What a message that waits takes besides its bytes: an upstream may send thirty thousand of two bytes in one packet. */
const WAITING_BYTES = 2 * 1024;

/** What is done for the messages of one answer, in their order: each after those before it. */
export class AnswerQueue {
  readonly #held: HeldBudget;
  readonly #owner: Owner;
  #tail: Promise<void> | undefined;

  constructor(held: HeldBudget, owner: Owner) {
    this.#held = held;
    this.#owner = owner;
  }

  /** Set while a task runs or waits. It rejects with the failure of the first one that fails. */
  get tail(): Promise<void> | undefined {
    return this.#tail;
  }

  /**
   * @param drop runs instead of the task when an earlier one has failed, or too many wait already
   * @throws GatewayError `held_full`
   */
  add(task: () => Promise<void>, drop: () => Promise<void> = async () => {}): void {
    const release = () => this.#held.add(-WAITING_BYTES, this.#owner);
    try {
      this.#held.add(WAITING_BYTES, this.#owner);
    } catch (error) {
      release();
      drop().catch(() => undefined);
      throw error;
    }
    const giveUp = async (error: unknown) => {
      await drop();
      throw error;
    };
    const run = this.#tail ? this.#tail.then(task, giveUp) : task();
    const tail: Promise<void> = run.finally(release).then(() => {
      if (this.#tail === tail) this.#tail = undefined;
    });
    // the failure is reported to the caller that awaits the tail
    tail.catch(() => {});
    this.#tail = tail;
  }
}
