import { MostUsed } from '../budget/collections/most-used.js';
import { RecentMap } from '../budget/collections/recent-map.js';
import type { Ledger } from '../budget/ledger.js';

/** Most sessions that are over and are forgotten when another opens. */
const FORGOTTEN_AT_ONCE = 4;

/** Most sessions with requests under way that are passed over where one is wanted that can be spared. */
const PASSED_OVER = 32;

interface TableOptions<Entry> {
  /** Called for each that has left the table because it was unused for too long. */
  over: (entry: Entry) => void;
  /** Whether it has requests under way. */
  isBusy: (entry: Entry) => boolean;
}

/** A session in a process's memory. */
export interface Remembered {
  id: string;
  principal: string;
  /** How much it counts: one with much stored data counts several times. */
  weight: number;
  /** When it was last used, by a stopwatch. */
  usedAt: number;
}

/**
 * The sessions that a process remembers, in order of their use, of all principals and of each. Where there are many callers
 * it is always full, so no step may look at all: that took 6 ms of each `initialize`.
 */
export class SessionTable<Entry extends Remembered> {
  readonly #ledger: Ledger;
  readonly #ttlMs: number;
  readonly #byId = new RecentMap<string, Entry>();
  readonly #byPrincipal = new Map<string, RecentMap<string, Entry>>();
  readonly #weights = new MostUsed();
  readonly #options: TableOptions<Entry>;

  constructor(ledger: Ledger, ttlMs: number, options: TableOptions<Entry>) {
    this.#ledger = ledger;
    this.#ttlMs = ttlMs;
    this.#options = options;
  }

  get size(): number {
    return this.#byId.size;
  }

  /** Those that are not over. */
  entries(now: number): Entry[] {
    return [...this.#byId.values()].filter((entry) => !this.#isOver(entry, now));
  }

  /** An unexpired session; marks it as used now. */
  use(id: string, now: number): Entry | undefined {
    const entry = this.#byId.peek(id);
    if (!entry) return undefined;
    if (this.#isOver(entry, now)) {
      this.#expire(entry);
      return undefined;
    }
    entry.usedAt = now;
    this.#byId.use(id);
    this.#byPrincipal.get(entry.principal)?.use(id);
    this.#weights.use(entry.principal);
    return entry;
  }

  /** @returns the sessions removed to make room: unused longest, of the principal with the most */
  add(entry: Entry): Entry[] {
    const { principal, weight, usedAt } = entry;
    this.#forgetOver(usedAt);
    const evicted: Entry[] = [];
    for (;;) {
      const refusal = this.#ledger.refusal(weight, { principal });
      const victim = refusal && this.#longestUnusedOf(refusal.full === 'principal' ? principal : this.#mostOf(usedAt));
      if (!victim) break;
      if (this.#isOver(victim, usedAt)) this.#expire(victim);
      else {
        this.delete(victim.id);
        evicted.push(victim);
      }
    }
    // if nothing is left to remove, it is counted anyway: even the smallest limits admit one
    this.#ledger.add(weight, { principal });
    this.#weights.add(principal, weight);
    this.#byId.set(entry.id, entry);
    const own = this.#byPrincipal.get(principal) ?? new RecentMap<string, Entry>();
    own.set(entry.id, entry);
    this.#byPrincipal.set(principal, own);
    return evicted;
  }

  /** Removes those of a principal that it has not used for longest, so that no more than `most` stay. @returns them */
  leave(principal: string, most: number, now: number): Entry[] {
    const removed: Entry[] = [];
    while ((this.#byPrincipal.get(principal)?.size ?? 0) > most) {
      const entry = this.#longestUnusedOf(principal);
      if (!entry) break;
      if (this.#isOver(entry, now)) this.#expire(entry);
      else {
        this.delete(entry.id);
        removed.push(entry);
      }
    }
    return removed;
  }

  delete(id: string): void {
    const entry = this.#byId.peek(id);
    if (!entry) return;
    const { principal, weight } = entry;
    this.#byId.delete(id);
    this.#ledger.give(weight, { principal });
    this.#weights.add(principal, -weight);
    const own = this.#byPrincipal.get(principal);
    own?.delete(id);
    if (own?.size === 0) this.#byPrincipal.delete(principal);
  }

  /** Some of those that are over: after a busy day, what thousands of them take would stay for ever. */
  #forgetOver(now: number): void {
    let left = FORGOTTEN_AT_ONCE;
    for (const entry of this.#byId.values()) {
      if (left === 0 || !this.#isOver(entry, now)) return;
      left -= 1;
      this.#expire(entry);
    }
  }

  #expire(entry: Entry): void {
    this.delete(entry.id);
    this.#options.over(entry);
  }

  /** One that its client does not need now, if there is one among the first. */
  #longestUnusedOf(principal: string | undefined): Entry | undefined {
    if (principal === undefined) return undefined;
    let first: Entry | undefined;
    let left = PASSED_OVER;
    for (const entry of this.#byPrincipal.get(principal)?.values() ?? []) {
      if (left === 0) break;
      if (!this.#options.isBusy(entry)) return entry;
      first ??= entry;
      left -= 1;
    }
    return first;
  }

  /** The principal with the most sessions; one with expired sessions comes first, because they are not missed. */
  #mostOf(now: number): string | undefined {
    const [longestUnused] = this.#byId.values();
    return longestUnused && this.#isOver(longestUnused, now) ? longestUnused.principal : this.#weights.most;
  }

  #isOver({ usedAt }: Entry, now: number): boolean {
    return now - usedAt > this.#ttlMs;
  }
}
