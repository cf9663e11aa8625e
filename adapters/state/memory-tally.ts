import { MOST_PARTS } from '../../gateway/budget/ledger.js';
import { GatewayError } from '../../gateway/errors.js';
import type { Tallied, TallyChange } from '../../gateway/ports/state-store.js';

interface Part {
  amount: number;
  /** By a stopwatch. */
  until: number;
}

/** How often a full store looks for room: each look reads all tallies, and each new caller would cause one. */
const LOOK_MS = 1000;

/** The tallies of a state store in memory. */
export class Tallies {
  readonly #tallies = new Map<string, Map<string, Part>>();
  readonly #most: number;
  /** No tally ends before this: without it a full store would look at all of them for each new caller. */
  #earliest = Number.POSITIVE_INFINITY;
  #lookedAt = Number.NEGATIVE_INFINITY;

  /** @param most tallies at one time */
  constructor(most: number) {
    this.#most = most;
  }

  change(
    key: string,
    changes: readonly TallyChange[],
    { limit, now }: { limit: number | undefined; now: number },
  ): Tallied {
    const parts = this.#living(key, now);
    const before = sumOf(parts);
    const after = new Map(parts);
    for (const { part, by, ttlMs } of changes) {
      const { amount, until } = after.get(part) ?? { amount: 0, until: 0 };
      after.set(part, { amount: Math.max(0, amount + by), until: Math.max(until, now + ttlMs) });
    }
    for (const [name, { amount }] of after) if (amount === 0) after.delete(name);
    const total = sumOf(after);
    if (limit !== undefined && total > limit && total > before) {
      return { isWithin: false, total, ...fitting(parts, total - limit, now) };
    }
    if (after.size > MOST_PARTS) throw new GatewayError('state_full', { allowed: MOST_PARTS, actual: after.size });
    if (after.size > 0 && !this.#tallies.has(key)) this.#makeRoom(now);
    if (after.size === 0) this.#tallies.delete(key);
    else {
      this.#tallies.set(key, after);
      this.#earliest = Math.min(this.#earliest, endOf(after));
    }
    return { isWithin: true, total };
  }

  /** @throws GatewayError `state_full` */
  #makeRoom(now: number): void {
    if (this.#tallies.size < this.#most) return;
    if (now - this.#lookedAt >= LOOK_MS) {
      this.#lookedAt = now;
      this.purge(now);
    }
    const { size } = this.#tallies;
    if (size >= this.#most)
      throw new GatewayError('state_full', { limit: 'state.maxKeys', allowed: this.#most, actual: size });
  }

  /** Forgets tallies without a living part. */
  purge(now: number): void {
    if (now < this.#earliest) return;
    this.#earliest = Number.POSITIVE_INFINITY;
    for (const [key, parts] of this.#tallies) {
      const end = endOf(parts);
      if (end <= now) this.#tallies.delete(key);
      else this.#earliest = Math.min(this.#earliest, end);
    }
  }

  clear(): void {
    this.#tallies.clear();
  }

  #living(key: string, now: number): Map<string, Part> {
    return new Map([...(this.#tallies.get(key) ?? [])].filter(([, { until }]) => until > now));
  }
}

/** When its last part leaves. */
function endOf(parts: ReadonlyMap<string, Part>): number {
  let end = 0;
  for (const { until } of parts.values()) if (until > end) end = until;
  return end;
}

function sumOf(parts: ReadonlyMap<string, Part>): number {
  return [...parts.values()].reduce((sum, { amount }) => sum + amount, 0);
}

/** When so much has left by itself. */
function fitting(parts: ReadonlyMap<string, Part>, excess: number, now: number): { fitsInMs?: number } {
  let left = excess;
  for (const { amount, until } of [...parts.values()].sort((a, b) => a.until - b.until)) {
    left -= amount;
    if (left <= 0) return { fitsInMs: until - now };
  }
  return {};
}
