import type { Stopwatch } from './clock.js';
import type { Log } from './log.js';
import type { Owner, Sharing } from './owner.js';

/**
 * Small facts that every replica shares: sessions, file records, tickets. The verbs are the atomic steps the product
 * needs; each uses exactly one key, so they are safe on a Redis Cluster. Every key has a time to live.
 * A store that cannot answer in time throws `GatewayError('state_unavailable')`. The step may have happened, so the
 * caller treats its right as used up. A store without room for a new key, in total or in its owner's share, throws
 * `state_full`.
 */
export interface StateStore {
  readonly name: string;
  /**
   * Writes `value` unless the key exists. True when written.
   * @param owner the owner whose share of the store's keys it counts against while it exists
   */
  create(key: string, value: string, ttlMs: number, owner?: Owner): Promise<boolean>;
  /** The value; `undefined` when the key is missing or expired. */
  read(key: string): Promise<string | undefined>;
  /**
   * Raises the time to live of an existing key to at least `ttlMs`, never shortens it. False when the key is missing.
   */
  extend(key: string, ttlMs: number): Promise<boolean>;
  /** Writes `value` if the key holds exactly `expected`. True when written. */
  replace(key: string, expected: string, value: string, ttlMs: number): Promise<boolean>;
  /** Reads and removes in one step: of several callers at most one gets the value. */
  take(key: string): Promise<string | undefined>;
  /** Removing a missing key is not an error. */
  remove(key: string): Promise<void>;
  /**
   * Changes parts of a tally in one step. A part counts until its time is over, and then leaves by itself: so what a
   * crashed process has counted comes back. If the parts together would pass `limit`, and this change adds to them,
   * nothing is changed.
   * @param leaving names of parts that leave in that case, in the same step: what was reserved for a change that is
   * refused must not keep others out while its owner hears of it
   */
  tally(key: string, changes: readonly TallyChange[], limit?: number, leaving?: readonly string[]): Promise<Tallied>;
  /** Its time, in ms since the Unix epoch, by which all replicas go. Absent where only this process has the store. */
  time?(): Promise<number>;
  /** Resolves when the store takes what is written, for readiness. */
  check(): Promise<void>;
  /** What the store says of itself, for `wharf doctor`; absent where there is nothing to say. */
  about?(): Promise<AboutStore>;
  /**
   * What its user may not do, in the words of its own rules, for `wharf doctor`; absent where it has no users.
   * @param withTallies whether tallies are needed
   * @throws an Error where it cannot be asked
   */
  lackedRights?(withTallies: boolean): Promise<readonly string[]>;
  close(): Promise<void>;
}

/** How a store is set up. */
export interface AboutStore {
  /** Its product and version, such as `Redis 7.2.4`. */
  readonly version: string;
  /** What it removes when its memory is full; undefined if it then refuses to write. */
  readonly evicts: string | undefined;
  /** Bytes of memory that it may take; undefined: as many as there are. */
  readonly maxMemory: number | undefined;
  /** Whether each write outlives a restart. */
  readonly isLasting: boolean;
  /** Its clock, milliseconds since the epoch. */
  readonly now: number;
}

/** A change of one part of a tally. */
export interface TallyChange {
  readonly part: string;
  /** Added to its amount, which never falls below 0. */
  readonly by: number;
  /** It counts for at least so long from now. */
  readonly ttlMs: number;
}

/** What has become of a change of a tally. */
export interface Tallied {
  readonly isWithin: boolean;
  /** All parts together; of a change that was refused, as they would have been. */
  readonly total: number;
  /** Of a change that was refused: after this time enough other parts will have left for it; absent if it never fits. */
  readonly fitsInMs?: number;
}

/** What every state store gets besides its own settings. */
export interface StateStoreDeps {
  /** Milliseconds one step may take. */
  timeouts: { state: number };
  /** How its keys are shared. */
  sharing: Sharing;
  /** What times to live are measured by: a clock of the day may be set, and would end them all, or none. */
  clock: Stopwatch;
  log: Log;
}
