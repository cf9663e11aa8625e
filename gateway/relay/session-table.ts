import type { Ledger } from '../budget/ledger.js';

/** A session as a process remembers it. */
export interface Remembered {
  id: string;
  principal: string;
  /** What it counts for: one that keeps much counts several times. */
  weight: number;
  /** When it was last used. Milliseconds since the epoch. */
  usedAt: number;
}

/** The sessions that a process remembers, with what each principal has of them in the order of their use. */
export class SessionTable<Entry extends Remembered> {
  readonly #ledger: Ledger;
  readonly #ttlMs: number;
  readonly #byId = new Map<string, Entry>();
  /** Longest unused first. */
  readonly #byPrincipal = new Map<string, Map<string, Entry>>();

  constructor(ledger: Ledger, ttlMs: number) {
    this.#ledger = ledger;
    this.#ttlMs = ttlMs;
  }

  get size(): number {
    return this.#byId.size;
  }

  /** One whose time is not over; it is used now. */
  use(id: string, now: number): Entry | undefined {
    const entry = this.#byId.get(id);
    if (!entry) return undefined;
    if (this.#isOver(entry, now)) {
      this.delete(id);
      return undefined;
    }
    entry.usedAt = now;
    const own = this.#byPrincipal.get(entry.principal);
    own?.delete(id);
    own?.set(id, entry);
    return entry;
  }

  /** @returns those that had to make room for it, longest unused first, and of the principal who has most of them */
  add(entry: Entry): Entry[] {
    const { principal, weight, usedAt } = entry;
    const evicted: Entry[] = [];
    for (;;) {
      const refusal = this.#ledger.refusal(weight, { principal });
      const victim = refusal && this.#longestUnusedOf(refusal.full === 'principal' ? principal : this.#mostOf(usedAt));
      if (!victim) break;
      this.delete(victim.id);
      if (!this.#isOver(victim, usedAt)) evicted.push(victim);
    }
    // where nothing is left to make room it counts all the same: the smallest limits still let one in
    this.#ledger.add(weight, { principal });
    this.#byId.set(entry.id, entry);
    const own = this.#byPrincipal.get(principal) ?? new Map<string, Entry>();
    own.set(entry.id, entry);
    this.#byPrincipal.set(principal, own);
    return evicted;
  }

  delete(id: string): void {
    const entry = this.#byId.get(id);
    if (!entry) return;
    const { principal, weight } = entry;
    this.#byId.delete(id);
    this.#ledger.give(weight, { principal });
    const own = this.#byPrincipal.get(principal);
    own?.delete(id);
    if (own?.size === 0) this.#byPrincipal.delete(principal);
  }

  #longestUnusedOf(principal: string | undefined): Entry | undefined {
    if (principal === undefined) return undefined;
    const [longestUnused] = this.#byPrincipal.get(principal)?.values() ?? [];
    return longestUnused;
  }

  /** Who has most; but first who has some that are over, since those are missed by nobody. */
  #mostOf(now: number): string | undefined {
    let most: { principal: string; used: number } | undefined;
    for (const [principal, own] of this.#byPrincipal) {
      const [longestUnused] = own.values();
      if (longestUnused && this.#isOver(longestUnused, now)) return principal;
      const used = this.#ledger.usedBy('principal', principal);
      if (!most || used > most.used) most = { principal, used };
    }
    return most?.principal;
  }

  #isOver({ usedAt }: Entry, now: number): boolean {
    return now - usedAt > this.#ttlMs;
  }
}
