/** Wall time, so that expiry can be tested by moving it. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
}
