import type { Clock } from './clock.js';
import type { Log } from './log.js';
import type { Owner, Sharing } from './owner.js';

/**
 * Small facts that every replica shares: sessions, file records, tickets. The verbs are the atomic steps the product
 * needs; each touches exactly one key, so they are safe on a Redis Cluster. Every key has a time to live.
 * A store that cannot answer in time throws `GatewayError('state_unavailable')`; the step may then have been taken all
 * the same, so the caller treats its right as used up. One with no room left for a new key, in all or of its owner's,
 * throws `state_full`.
 */
export interface StateStore {
  readonly name: string;
  /**
   * Writes `value` unless the key exists. True when it was written.
   * @param owner whose share of the store's keys it is, for as long as it exists
   */
  create(key: string, value: string, ttlMs: number, owner?: Owner): Promise<boolean>;
  /** The value, `undefined` when there is none or its time is over. */
  read(key: string): Promise<string | undefined>;
  /** Sets the time to live of an existing key to at least `ttlMs`, never shortens it. False when there is no such key. */
  extend(key: string, ttlMs: number): Promise<boolean>;
  /** Writes `value` if the key holds exactly `expected`. True when it was written. */
  replace(key: string, expected: string, value: string, ttlMs: number): Promise<boolean>;
  /** Reads and removes in one step: of any number of callers at most one gets the value. */
  take(key: string): Promise<string | undefined>;
  /** Removing what is not there is no error. */
  remove(key: string): Promise<void>;
  /** Resolves when the store answers, for readiness. */
  check(): Promise<void>;
  close(): Promise<void>;
}

/** What every state store is given besides its own settings. */
export interface StateStoreDeps {
  /** Milliseconds one step may take. */
  timeouts: { state: number };
  /** How its keys are shared. */
  sharing: Sharing;
  clock: Clock;
  log: Log;
}
