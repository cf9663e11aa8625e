import type { HeldBudget } from '../budget/held.js';
import type { Owner } from '../ports/owner.js';
import { ByteStore } from '../wire/json/byte-store.js';

/** Bytes read ahead of whoever takes them: a socket's worth. */
const MOST = 64 * 1024;

/**
 * What has come of a body and has not been taken yet, at what it costs in whatever chunks it comes, and counted against
 * `limits.held`: it may have to wait for part memory.
 */
export class ReadAhead {
  readonly #held: HeldBudget;
  readonly #owner: Owner;
  readonly #store = new ByteStore();
  #counted = 0;

  constructor(held: HeldBudget, owner: Owner) {
    this.#held = held;
    this.#owner = owner;
  }

  get isEmpty(): boolean {
    return this.#store.size === 0;
  }

  /** No more should come before some of it is taken. */
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

  /** All there is. */
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
