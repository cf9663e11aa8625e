import { GatewayError } from '../errors.js';
import type { Limits } from '../policy/limits.js';
import type { Owner, OwnerSide } from '../ports/owner.js';
import { type Ledger, refusalFacts } from './ledger.js';

/**
 * The count of bytes in held messages (`limits.held`), per principal and per server as well. It never waits: a message
 * that waited for others while holding its own bytes could wait for ever.
 */
export class HeldBudget {
  readonly #ledger: Ledger;

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  get used(): number {
    return this.#ledger.used;
  }

  /** The most that any one principal, or any one server, has now. Looks at all of them: for metrics. */
  largest(side: OwnerSide): number {
    return this.#ledger.largest(side);
  }

  /** @throws GatewayError `held_full` when more bytes are held than may be; they count all the same until released. */
  add(bytes: number, owner: Owner): void {
    if (bytes <= 0) {
      this.#ledger.give(-bytes, owner);
      return;
    }
    const refusal = this.#ledger.add(bytes, owner);
    if (refusal) throw new GatewayError('held_full', refusalFacts(refusal));
  }
}

/**
 * A large message of a client's is there as its chunks, its bytes, its text and the strings of its arguments at the same
 * time: 200 MB of them took 1.26 GB.
 */
const COPIES = 4;

/**
 * The most that a single request within its limits is likely to count, with one file in its arguments: what a share of
 * `limits.held` always has room for.
 */
export function largestRequest({ message, inlineArgument }: Pick<Limits, 'message' | 'inlineArgument'>): number {
  return COPIES * (message + Math.ceil(inlineArgument / 3) * 4);
}

/**
 * What one message of a client's counts against `limits.held`, while it arrives and until its exchange is over: its
 * bytes, and as many copies of them as there may be once it is longer than `limits.message`. The same for both faces.
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

  /** More of it has come. @throws GatewayError `held_full`; it counts all the same until it is released */
  grow(bytes: number): void {
    this.#bytes += bytes;
    const counted = this.#bytes > this.#limits.message ? this.#bytes * COPIES : this.#bytes;
    const more = counted - this.#counted;
    this.#counted = counted;
    this.#budget.add(more, this.#owner);
  }

  /** Nothing of it is held any more. */
  release(): void {
    const counted = this.#counted;
    this.#bytes = 0;
    this.#counted = 0;
    this.#budget.add(-counted, this.#owner);
  }
}
