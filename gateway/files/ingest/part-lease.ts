import type { PartBudget } from '../../budget/parts.js';
import type { Owner } from '../../ports/owner.js';
import type { PartBuffers } from './part-buffers.js';

/** The right to one part buffer: reserved in `limits.partMemory`, perhaps used, then released. */
export class PartLease {
  readonly #budget: PartBudget;
  readonly #buffers: PartBuffers;
  readonly #owner: Owner;
  readonly #signal: AbortSignal;
  #state: 'new' | 'waiting' | 'granted' | 'over' = 'new';
  #wait: Promise<void> | undefined;
  #buffer: Buffer | undefined;

  constructor({ budget, buffers }: { budget: PartBudget; buffers: PartBuffers }, owner: Owner, signal: AbortSignal) {
    this.#budget = budget;
    this.#buffers = buffers;
    this.#owner = owner;
    this.#signal = signal;
  }

  /**
   * `undefined` when granted, now or earlier; while waiting, each call returns the same promise.
   * @throws GatewayError `part_memory_full`
   */
  reserve(): Promise<void> | undefined {
    if (this.#state !== 'new') return this.#wait;
    this.#state = 'waiting';
    this.#wait = this.#budget.reserve(this.#buffers.partSize, this.#owner, this.#signal)?.then(() => this.#grant());
    if (!this.#wait) this.#grant();
    return this.#wait;
  }

  /** The part's memory, allocated on first use. */
  get buffer(): Buffer {
    if (this.#state !== 'granted') throw new Error('a part buffer used before it was granted, or after its end');
    this.#buffer ??= this.#buffers.take();
    return this.#buffer;
  }

  /** Releases the buffer now, or on arrival if the lease is still queued. */
  free(): void {
    const { partSize } = this.#buffers;
    if (this.#buffer) this.#buffers.giveBack(this.#buffer);
    this.#buffer = undefined;
    if (this.#state === 'granted') this.#budget.release(partSize, this.#owner);
    this.#state = 'over';
  }

  #grant(): void {
    this.#wait = undefined;
    if (this.#state === 'over') this.#budget.release(this.#buffers.partSize, this.#owner);
    else this.#state = 'granted';
  }
}
