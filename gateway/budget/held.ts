import { GatewayError } from '../errors.js';
import type { Limits } from '../policy/limits.js';
import type { Owner, OwnerSide } from '../ports/owner.js';
import { type Ledger, refusalFacts } from './ledger.js';

/**
 * Counts the bytes of held messages (`limits.held`), also per principal and per server. It never waits: a message that
 * waited for others while holding its own bytes could wait for ever.
 */
export class HeldBudget {
  readonly #ledger: Ledger;

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  get used(): number {
    return this.#ledger.used;
  }

  /** The largest use by one principal, or by one server. Reads all of them: for metrics. */
  largest(side: OwnerSide): number {
    return this.#ledger.largest(side);
  }

  /** @throws GatewayError `held_full` when more bytes are held than allowed; they count until released even then. */
  add(bytes: number, owner: Owner): void {
    if (bytes <= 0) {
      this.#ledger.give(-bytes, owner);
      return;
    }
    const refusal = this.#ledger.add(bytes, owner);
    if (refusal) throw new GatewayError('held_full', refusalFacts(refusal));
  }
}

/** Bytes that are counted one after the other and released together. */
export class HeldTogether {
  readonly #budget: Pick<HeldBudget, 'add'>;
  readonly #owner: Owner;
  #counted = 0;

  constructor(budget: Pick<HeldBudget, 'add'>, owner: Owner) {
    this.#budget = budget;
    this.#owner = owner;
  }

  /** @throws GatewayError `held_full`; what it refuses counts as well until it is released */
  hold(bytes: number): void {
    this.#counted += bytes;
    this.#budget.add(bytes, this.#owner);
  }

  release(): void {
    this.#budget.add(-this.#counted, this.#owner);
    this.#counted = 0;
  }
}

/**
 * A large client message exists at the same time as chunks, as bytes, as text and as the strings of its arguments: 200
 * MB of them took 1.26 GB.
 */
const COPIES = 4;

/**
 * The largest count to expect of a single request within its limits, with one file in its arguments. A share of
 * `limits.held` always has room for it.
 */
export function largestRequest({ message, inlineArgument }: Pick<Limits, 'message' | 'inlineArgument'>): number {
  return COPIES * (message + Math.ceil(inlineArgument / 3) * 4);
}

/** Bytes of one message that are counted until they are released. */
export type HeldBytes = Pick<HeldRequest, 'grow' | 'release'>;

/**
 * Counts one client message against `limits.held`, from its first byte until its exchange ends: its bytes, and COPIES
 * times them once it is longer than `limits.message`. HTTP and stdio both use it.
 */
export class HeldRequest {
  readonly #budget: HeldBudget;
  readonly #limits: Pick<Limits, 'message'>;
  readonly #owner: Owner;
  #bytes = 0;
  #counted = 0;

  constructor(budget: HeldBudget, limits: Pick<Limits, 'message'>, owner: Owner) {
    this.#budget = budget;
    this.#limits = limits;
    this.#owner = owner;
  }

  /** Adds bytes that have arrived. @throws GatewayError `held_full`; they count until released even then */
  grow(bytes: number): void {
    this.#bytes += bytes;
    const counted = this.#bytes > this.#limits.message ? this.#bytes * COPIES : this.#bytes;
    const more = counted - this.#counted;
    this.#counted = counted;
    this.#budget.add(more, this.#owner);
  }

  /** Nothing of the message is held from now on. */
  release(): void {
    const counted = this.#counted;
    this.#bytes = 0;
    this.#counted = 0;
    this.#budget.add(-counted, this.#owner);
  }
}
