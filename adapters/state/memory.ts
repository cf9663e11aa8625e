import { z } from 'zod';
import { keysFor, Ledger, refusalFacts } from '../../gateway/budget/ledger.js';
import { GatewayError } from '../../gateway/errors.js';
import type { Owner } from '../../gateway/ports/owner.js';
import type { StateStore, StateStoreDeps } from '../../gateway/ports/state-store.js';

/** One process only: a second replica sees none of it, and a restart forgets it. */
export const settings = z.strictObject({
  maxKeys: z
    .number()
    .int()
    .positive()
    .default(100_000)
    .describe('Keys (sessions, files, tickets) held at one time; past it a new one is refused. Default 100000.'),
});

/** Expired keys are also forgotten when they are touched; this is for those that nobody asks for again. */
const PURGE_EVERY_MS = 60_000;

interface Entry {
  value: string;
  /** Milliseconds since the epoch from which on the entry is no longer there. */
  expiresAt: number;
  /** Whose key it is. */
  owner: Owner;
}

/** A state store in the process's own memory. Every verb runs in one turn of the event loop, hence atomically. */
export function create(
  config: z.output<typeof settings>,
  { clock, sharing }: Pick<StateStoreDeps, 'clock' | 'sharing'>,
): StateStore {
  const entries = new Map<string, Entry>();
  const ledger = new Ledger({ limit: 'state.maxKeys', total: config.maxKeys, sharing });
  /** No entry expires before this. Without it a full store would walk all its keys for each one it refuses. */
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

  const timer = setInterval(purge, PURGE_EVERY_MS);
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
      // what is there already must not be lost for want of room
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

    async check() {},

    async close() {
      clearInterval(timer);
      entries.clear();
    },
  };
}
