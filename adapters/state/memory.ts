import { setImmediate as nextTurn } from 'node:timers/promises';
import { z } from 'zod';
import { keysFor, Ledger, refusalFacts } from '../../gateway/budget/ledger.js';
import { GatewayError } from '../../gateway/errors.js';
import type { Owner } from '../../gateway/ports/owner.js';
import type { StateStore, StateStoreDeps } from '../../gateway/ports/state-store.js';
import { Expiries, type Expiring } from './memory-expiry.js';
import { Tallies } from './memory-tally.js';

/** One process only: other replicas cannot see it, and a restart loses it. */
export const settings = z.strictObject({
  maxKeys: z
    .number()
    .int()
    .positive()
    .default(100_000)
    .describe('Keys (sessions, files, tickets) held at one time. Past it a new one is refused. Default 100000.'),
});

/** Expired keys are also removed when they are read; this removes the others. */
const PURGE_EVERY_MS = 60_000;

interface Entry extends Expiring {
  readonly key: string;
  value: string;
  expiresAt: number;
  /** The key's owner. */
  readonly owner: Owner;
}

/**
 * Expired keys that are forgotten in one step, which takes a millisecond: 100,000 that were made together took a third of a
 * second, in which nothing else was answered.
 */
const STEP = 500;

/**
 * A state store in the process's own memory. What a verb looks at and what it changes is in one turn of the event loop, so
 * it is atomic.
 */
export function create(
  config: z.output<typeof settings>,
  { clock, sharing }: Pick<StateStoreDeps, 'clock' | 'sharing'>,
): StateStore {
  const entries = new Map<string, Entry>();
  const ledger = new Ledger({ limit: 'state.maxKeys', total: config.maxKeys, sharing });
  /** In the order of their times: a full store would otherwise check all its keys for each refusal. */
  const expiries = new Expiries<Entry>();

  const forget = (entry: Entry): void => {
    entries.delete(entry.key);
    expiries.remove(entry);
    ledger.give(keysFor(entry.value), entry.owner);
  };

  const living = (key: string): Entry | undefined => {
    const entry = entries.get(key);
    if (entry === undefined || entry.expiresAt > clock.ticks()) return entry;
    forget(entry);
    return undefined;
  };

  const setTime = (entry: Entry, expiresAt: number): void => {
    entry.expiresAt = expiresAt;
    expiries.move(entry);
  };

  /** Forgets some of the keys that have expired. @returns whether there are more */
  const purgeSome = (): boolean => {
    const now = clock.ticks();
    let left = STEP;
    for (let due = expiries.first; due && due.expiresAt <= now; due = expiries.first) {
      if (left === 0) return true;
      left -= 1;
      forget(due);
    }
    return false;
  };

  const tallies = new Tallies(config.maxKeys);

  const purge = async (): Promise<void> => {
    while (purgeSome()) await nextTurn();
    while (tallies.purgeSome(clock.ticks())) await nextTurn();
  };

  const timer = setInterval(() => void purge(), PURGE_EVERY_MS);
  timer.unref();

  return {
    name: 'memory',

    async create(key, value, ttlMs, owner = {}) {
      const keys = keysFor(value);
      for (let mayBeRoom = true; ; ) {
        // also by another request that came while others were served
        if (living(key) !== undefined) return false;
        const refusal = ledger.take(keys, owner);
        if (!refusal) break;
        if (!mayBeRoom)
          throw new GatewayError('state_full', { ...refusalFacts(refusal), actual: refusal.actual - keys });
        mayBeRoom = purgeSome();
        if (mayBeRoom) await nextTurn();
      }
      const entry = { key, value, expiresAt: clock.ticks() + ttlMs, place: 0, owner };
      entries.set(key, entry);
      expiries.add(entry);
      return true;
    },

    async read(key) {
      return living(key)?.value;
    },

    async extend(key, ttlMs) {
      const entry = living(key);
      if (entry === undefined) return false;
      const expiresAt = clock.ticks() + ttlMs;
      if (expiresAt > entry.expiresAt) setTime(entry, expiresAt);
      return true;
    },

    async replace(key, expected, value, ttlMs) {
      const entry = living(key);
      if (entry?.value !== expected) return false;
      // an existing entry must not be lost for lack of room
      ledger.give(keysFor(entry.value), entry.owner);
      ledger.add(keysFor(value), entry.owner);
      entry.value = value;
      setTime(entry, clock.ticks() + ttlMs);
      return true;
    },

    async take(key) {
      const entry = living(key);
      if (entry) forget(entry);
      return entry?.value;
    },

    async remove(key) {
      const entry = entries.get(key);
      if (entry) forget(entry);
    },

    async tally(key, changes, limit, leaving = []) {
      return tallies.change(key, changes, { limit, leaving, now: clock.ticks() });
    },

    async check() {},

    async close() {
      clearInterval(timer);
      entries.clear();
      expiries.clear();
      tallies.clear();
    },
  };
}
