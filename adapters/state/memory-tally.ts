import { MOST_PARTS } from '../../gateway/budget/ledger.js';
import { GatewayError } from '../../gateway/errors.js';
import type { Tallied, TallyChange } from '../../gateway/ports/state-store.js';
import { Expiries, type Expiring } from './memory-expiry.js';

interface Part {
  amount: number;
  /** By a stopwatch. */
  until: number;
}

interface Tally extends Expiring {
  readonly key: string;
  parts: ReadonlyMap<string, Part>;
  /** When its last part leaves. */
  expiresAt: number;
}

/** Tallies that are forgotten in one step. */
const STEP = 500;

/** The tallies of a state store in memory. */
export class Tallies {
  readonly #tallies = new Map<string, Tally>();
  /** In the order of their times: a full store would otherwise look at all of them for each new caller. */
  readonly #expiries = new Expiries<Tally>();
  readonly #most: number;

  /** @param most tallies at one time */
  constructor(most: number) {
    this.#most = most;
  }

  change(
    key: string,
    changes: readonly TallyChange[],
    { limit, leaving = [], now }: { limit: number | undefined; leaving?: readonly string[]; now: number },
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
      const had = parts.size;
      for (const name of leaving) parts.delete(name);
      if (parts.size < had) this.#keep(key, parts, now);
      return { isWithin: false, total, ...fitting(parts, total - limit, now) };
    }
    if (after.size > MOST_PARTS) throw new GatewayError('state_full', { allowed: MOST_PARTS, actual: after.size });
    this.#keep(key, after, now);
    return { isWithin: true, total };
  }

  /** @throws GatewayError `state_full` */
  #keep(key: string, parts: ReadonlyMap<string, Part>, now: number): void {
    const kept = this.#tallies.get(key);
    if (parts.size === 0) {
      if (kept) this.#forget(kept);
      return;
    }
    const expiresAt = endOf(parts);
    if (kept) {
      Object.assign(kept, { parts, expiresAt });
      this.#expiries.move(kept);
      return;
    }
    this.#makeRoom(now);
    const tally = { key, parts, expiresAt, place: 0 };
    this.#tallies.set(key, tally);
    this.#expiries.add(tally);
  }

  /** @throws GatewayError `state_full` */
  #makeRoom(now: number): void {
    const { size } = this.#tallies;
    if (size < this.#most) return;
    const { first } = this.#expiries;
    if (!first || first.expiresAt > now)
      throw new GatewayError('state_full', { limit: 'state.maxKeys', allowed: this.#most, actual: size });
    this.#forget(first);
  }

  /** Forgets some of the tallies without a living part. @returns whether there are more */
  purgeSome(now: number): boolean {
    let left = STEP;
    for (let due = this.#expiries.first; due && due.expiresAt <= now; due = this.#expiries.first) {
      if (left === 0) return true;
      left -= 1;
      this.#forget(due);
    }
    return false;
  }

  clear(): void {
    this.#tallies.clear();
    this.#expiries.clear();
  }

  #forget(tally: Tally): void {
    this.#tallies.delete(tally.key);
    this.#expiries.remove(tally);
  }

  #living(key: string, now: number): Map<string, Part> {
    return new Map([...(this.#tallies.get(key)?.parts ?? [])].filter(([, { until }]) => until > now));
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
