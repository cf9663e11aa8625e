import type { Ledger } from '../budget/ledger.js';
import { RecentMap } from '../budget/recent-map.js';

/** A session in a process's memory. */
export interface Remembered {
  id: string;
  principal: string;
  /** How much it counts: one with much stored data counts several times. */
  weight: number;
  /** When it was last used, by a stopwatch. */
  usedAt: number;
}

/** The sessions that a process remembers, per principal in order of their use. */
export class SessionTable<Entry extends Remembered> {
  readonly #ledger: Ledger;
  readonly #ttlMs: number;
  readonly #byId = new Map<string, Entry>();
  readonly #byPrincipal = new Map<string, RecentMap<string, Entry>>();

  constructor(ledger: Ledger, ttlMs: number) {
    this.#ledger = ledger;
    this.#ttlMs = ttlMs;
  }

  get size(): number {
    return this.#byId.size;
  }

  entries(): Entry[] {
    return [...this.#byId.values()];
  }

  /** An unexpired session; marks it as used now. */
  use(id: string, now: number): Entry | undefined {
    const entry = this.#byId.get(id);
    if (!entry) return undefined;
    if (this.#isOver(entry, now)) {
      this.delete(id);
      return undefined;
    }
    entry.usedAt = now;
    this.#byPrincipal.get(entry.principal)?.use(id);
    return entry;
  }

  /** @returns the sessions removed to make room: unused longest, of the principal with the most */
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
    // if nothing is left to remove, it is counted anyway: even the smallest limits admit one
    this.#ledger.add(weight, { principal });
    this.#byId.set(entry.id, entry);
    const own = this.#byPrincipal.get(principal) ?? new RecentMap<string, Entry>();
    own.set(entry.id, entry);
    this.#byPrincipal.set(principal, own);
    return evicted;
  }

  /** Removes those of a principal that it has not used for longest, so that no more than `most` stay. @returns them */
  leave(principal: string, most: number, now: number): Entry[] {
    const removed: Entry[] = [];
    for (const entry of this.#byPrincipal.get(principal)?.values() ?? []) {
      if ((this.#byPrincipal.get(principal)?.size ?? 0) <= most) break;
      this.delete(entry.id);
      if (!this.#isOver(entry, now)) removed.push(entry);
    }
    return removed;
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

  /** The principal with the most sessions; one with expired sessions comes first, because they are not missed. */
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
