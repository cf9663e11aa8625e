import { setImmediate as nextTurn } from 'node:timers/promises';
import { z } from 'zod';
import { keysFor, Ledger, refusalFacts } from '../../gateway/budget/ledger.js';
import { GatewayError } from '../../gateway/errors.js';
import type { Owner } from '../../gateway/ports/owner.js';
import type { StateStore, StateStoreDeps } from '../../gateway/ports/state-store.js';
import { Expiries } from './memory-expiry.js';
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

interface Entry {
  value: string;
  /** When the entry expires, by the stopwatch. */
  expiresAt: number;
  /** When it is looked at to find out whether it has expired: never later than that. */
  dueAt: number;
  /** The key's owner. */
  owner: Owner;
}

/**
 * Expired keys that are forgotten in one step, which takes a millisecond: 100,000 that were made together took a third of a
 * second, in which nothing else was answered.
 */
const STEP = 500;

/** Times of keys that are gone are forgotten once there are so many more of them than of keys. */
const MOST_STALE = 1000;

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
  const expiries = new Expiries();

  const forget = (key: string, entry: Entry): void => {
    entries.delete(key);
    ledger.give(keysFor(entry.value), entry.owner);
  };

  const living = (key: string): Entry | undefined => {
    const entry = entries.get(key);
    if (entry === undefined || entry.expiresAt > clock.ticks()) return entry;
    forget(key, entry);
    return undefined;
  };

  /** A key whose life is extended is looked at when it would have expired before. */
  const expire = (key: string, entry: Entry): void => {
    if (entry.expiresAt >= entry.dueAt) return;
    entry.dueAt = entry.expiresAt;
    expiries.add({ at: entry.dueAt, key });
    if (expiries.size <= 2 * entries.size + MOST_STALE) return;
    for (const one of entries.values()) one.dueAt = one.expiresAt;
    expiries.replace(Array.from(entries, ([name, { dueAt }]) => ({ at: dueAt, key: name })));
  };

  /** Forgets some of the keys that have expired. @returns whether there are more */
  const purgeSome = (): boolean => {
    const now = clock.ticks();
    let left = STEP;
    for (let due = expiries.first; due && due.at <= now; due = expiries.first) {
      if (left === 0) return true;
      left -= 1;
      expiries.removeFirst();
      const entry = entries.get(due.key);
      // it is gone, or another time of it counts
      if (entry?.dueAt !== due.at) continue;
      if (entry.expiresAt <= now) {
        forget(due.key, entry);
        continue;
      }
      entry.dueAt = Number.POSITIVE_INFINITY;
      expire(due.key, entry);
    }
    return false;
  };

  const purge = async (): Promise<void> => {
    while (purgeSome()) await nextTurn();
  };

  const tallies = new Tallies(config.maxKeys);
  const timer = setInterval(() => {
    void purge();
    tallies.purge(clock.ticks());
  }, PURGE_EVERY_MS);
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
      const expiresAt = clock.ticks() + ttlMs;
      const entry = { value, expiresAt, dueAt: Number.POSITIVE_INFINITY, owner };
      entries.set(key, entry);
      expire(key, entry);
      return true;
    },

    async read(key) {
      return living(key)?.value;
    },

    async extend(key, ttlMs) {
      const entry = living(key);
      if (entry === undefined) return false;
      entry.expiresAt = Math.max(entry.expiresAt, clock.ticks() + ttlMs);
      return true;
    },

    async replace(key, expected, value, ttlMs) {
      const entry = living(key);
      if (entry?.value !== expected) return false;
      // an existing entry must not be lost for lack of room
      ledger.give(keysFor(entry.value), entry.owner);
      ledger.add(keysFor(value), entry.owner);
      entry.value = value;
      entry.expiresAt = clock.ticks() + ttlMs;
      expire(key, entry);
      return true;
    },

    async take(key) {
      const entry = living(key);
      if (entry) forget(key, entry);
      return entry?.value;
    },

    async remove(key) {
      const entry = entries.get(key);
      if (entry) forget(key, entry);
    },

    async tally(key, changes, limit) {
      return tallies.change(key, changes, { limit, now: clock.ticks() });
    },

    async check() {},

    async close() {
      clearInterval(timer);
      entries.clear();
      expiries.replace([]);
      tallies.clear();
    },
  };
}
