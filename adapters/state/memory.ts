import { z } from 'zod';
import { keysFor, Ledger, refusalFacts } from '../../gateway/budget/ledger.js';
import { GatewayError } from '../../gateway/errors.js';
import type { Owner } from '../../gateway/ports/owner.js';
import type { StateStore, StateStoreDeps } from '../../gateway/ports/state-store.js';
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
  /** Milliseconds since the epoch at which the entry expires. */
  expiresAt: number;
  /** The key's owner. */
  owner: Owner;
}

/** A state store in the process's own memory. Every verb runs in one turn of the event loop, so it is atomic. */
export function create(
  config: z.output<typeof settings>,
  { clock, sharing }: Pick<StateStoreDeps, 'clock' | 'sharing'>,
): StateStore {
  const entries = new Map<string, Entry>();
  const ledger = new Ledger({ limit: 'state.maxKeys', total: config.maxKeys, sharing });
  /** Earliest expiry of any entry. Without it a full store would check all its keys for each refusal. */
  let earliest = Number.POSITIVE_INFINITY;

  const forget = (key: string, entry: Entry): void => {
    entries.delete(key);
    ledger.give(keysFor(entry.value), entry.owner);
  };

  const living = (key: string): Entry | undefined => {
    const entry = entries.get(key);
    if (entry === undefined || entry.expiresAt > clock.now()) return entry;
    forget(key, entry);
    return undefined;
  };

  const purge = (): void => {
    const now = clock.now();
    if (now < earliest) return;
    earliest = Number.POSITIVE_INFINITY;
    for (const [key, entry] of entries) {
      if (entry.expiresAt <= now) forget(key, entry);
      else earliest = Math.min(earliest, entry.expiresAt);
    }
  };

  const tallies = new Tallies(config.maxKeys);
  const timer = setInterval(() => {
    purge();
    tallies.purge(clock.now());
  }, PURGE_EVERY_MS);
  timer.unref();

  return {
    name: 'memory',

    async create(key, value, ttlMs, owner = {}) {
      if (living(key) !== undefined) return false;
      const keys = keysFor(value);
      let refusal = ledger.take(keys, owner);
      if (refusal) {
        purge();
        refusal = ledger.take(keys, owner);
      }
      if (refusal) throw new GatewayError('state_full', { ...refusalFacts(refusal), actual: refusal.actual - keys });
      const expiresAt = clock.now() + ttlMs;
      entries.set(key, { value, expiresAt, owner });
      earliest = Math.min(earliest, expiresAt);
      return true;
    },

    async read(key) {
      return living(key)?.value;
    },

    async extend(key, ttlMs) {
      const entry = living(key);
      if (entry === undefined) return false;
      entry.expiresAt = Math.max(entry.expiresAt, clock.now() + ttlMs);
      return true;
    },

    async replace(key, expected, value, ttlMs) {
      const entry = living(key);
      if (entry?.value !== expected) return false;
      // an existing entry must not be lost for lack of room
      ledger.give(keysFor(entry.value), entry.owner);
      ledger.add(keysFor(value), entry.owner);
      entry.value = value;
      entry.expiresAt = clock.now() + ttlMs;
      earliest = Math.min(earliest, entry.expiresAt);
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
      return tallies.change(key, changes, { limit, now: clock.now() });
    },

    async check() {},

    async close() {
      clearInterval(timer);
      entries.clear();
      tallies.clear();
    },
  };
}
