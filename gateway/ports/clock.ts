/** Wall time. An interface, so that tests of expiry can move it. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
}

/** Measures how long something takes. It cannot be set, so it never jumps. */
export interface Stopwatch {
  /** Milliseconds since an arbitrary moment, with fractions. Only differences have a meaning. */
  ticks(): number;
}
