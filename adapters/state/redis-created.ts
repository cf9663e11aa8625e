import { Ledger, type Refusal } from '../../gateway/budget/ledger.js';
import type { Stopwatch } from '../../gateway/ports/clock.js';
import type { Owner, Sharing } from '../../gateway/ports/owner.js';

/** Keys that expire in the same minute are forgotten together: a count per key would be a copy of Redis. */
const TOGETHER_MS = 60_000;

/**
 * Counts the keys that this process has created and whose first time to live is not over. A key removed early counts
 * until then, and keys of other replicas do not count: this bounds what one caller or one server can make a replica
 * write, not what is in Redis.
 */
export class CreatedKeys {
  readonly #ledger: Ledger;
  readonly #clock: Stopwatch;
  /** By the end of the minute in which they expire: keys by owner. */
  readonly #ending = new Map<number, Map<string, { owner: Owner; keys: number }>>();
  #earliest = Number.POSITIVE_INFINITY;

  constructor(maxKeys: number, sharing: Sharing, clock: Stopwatch) {
    this.#ledger = new Ledger({ limit: 'state.maxKeys', total: maxKeys, sharing });
    this.#clock = clock;
  }

  /**
   * Counts a key before it is created.
   * @param keys the number of keys that it counts as
   */
  take(owner: Owner, ttlMs: number, keys: number): { refusal: Refusal } | { undo: () => void } {
    this.#forgetExpired();
    const refusal = this.#ledger.take(keys, owner);
    if (refusal) return { refusal };
    const end = Math.ceil((this.#clock.ticks() + ttlMs) / TOGETHER_MS) * TOGETHER_MS;
    const owners = this.#ending.get(end) ?? new Map<string, { owner: Owner; keys: number }>();
    this.#ending.set(end, owners);
    this.#earliest = Math.min(this.#earliest, end);
    const name = `${owner.principal ?? ''}\0${owner.server ?? ''}`;
    const counted = owners.get(name) ?? { owner, keys: 0 };
    counted.keys += keys;
    owners.set(name, counted);
    return {
      undo: () => {
        if (this.#ending.get(end) !== owners) return;
        counted.keys -= keys;
        this.#ledger.give(keys, owner);
      },
    };
  }

  #forgetExpired(): void {
    const now = this.#clock.ticks();
    if (now < this.#earliest) return;
    this.#earliest = Number.POSITIVE_INFINITY;
    for (const [end, owners] of this.#ending) {
      if (end > now) {
        this.#earliest = Math.min(this.#earliest, end);
        continue;
      }
      this.#ending.delete(end);
      for (const { owner, keys } of owners.values()) this.#ledger.give(keys, owner);
    }
  }
}
