import type { HeldBudget } from '../../budget/held.js';
import type { Owner } from '../../ports/owner.js';
import { ByteStore } from '../../wire/json/byte-store.js';

/** Most bytes read ahead: as many as a socket delivers at once. */
const MOST = 64 * 1024;

/**
 * Bytes of a body that have arrived but are not yet taken, for example because part memory is full. Small chunks are
 * joined, so that the memory used equals the size, and the bytes count against a budget, mostly that of `limits.held`.
 */
export class ReadAhead {
  readonly #held: Pick<HeldBudget, 'add'>;
  readonly #owner: Owner;
  readonly #store = new ByteStore();
  #counted = 0;

  constructor(held: Pick<HeldBudget, 'add'>, owner: Owner) {
    this.#held = held;
    this.#owner = owner;
  }

  get isEmpty(): boolean {
    return this.#store.size === 0;
  }

  /** True when some bytes must be taken before more may arrive. */
  get isFull(): boolean {
    return this.#store.size >= MOST;
  }

  /** @throws GatewayError `held_full` */
  add(chunk: Buffer): void {
    this.#store.append(chunk, 0, chunk.length);
    this.#store.settle();
    this.#counted += chunk.length;
    this.#held.add(chunk.length, this.#owner);
  }

  /** Takes all bytes. */
  take(): readonly Buffer[] {
    const pieces = this.#store.pieces();
    this.clear();
    return pieces;
  }

  clear(): void {
    this.#store.clear();
    this.#held.add(-this.#counted, this.#owner);
    this.#counted = 0;
  }
}
