import { timeText } from '../policy/amounts.js';
import type { Clock, Stopwatch } from '../ports/clock.js';
import type { Log } from '../ports/log.js';
import type { Metrics } from '../ports/metrics.js';
import type { StateStore } from '../ports/state-store.js';

/** How often the state store is asked for its time. */
const EVERY_MS = 30_000;

/** A smaller difference is left alone, so that times do not jump to and fro; links and tickets last for minutes. */
const LEAST_MS = 1_000;

/** From here on Wharf warns the operator: access tokens are judged by the machine's own clock, and may be refused. */
const WARN_MS = 30_000;

/** An answer that takes longer does not tell the time well enough. */
const SLOW_MS = 1_000;

/** What issuers' tokens are judged by: they come from elsewhere, and NTP is what machines have in common with that. */
export const MACHINE_CLOCK: Clock = { now: () => Date.now() };

interface Told {
  log: Pick<Log, 'warn'>;
  metrics: Pick<Metrics, 'gauge'>;
}

/**
 * The time that all replicas have in common: the state store's, where that has one. A link, a ticket or a session that
 * one replica gave ends at the same moment on every other one, also where the clocks of their machines differ.
 */
export class SharedClock implements Clock, Stopwatch {
  /** What is added to this machine's time, in ms. */
  #difference = 0;
  #hasWarned = false;

  /** Bound, because parts pass a clock's verbs on by themselves. */
  readonly now = (): number => Date.now() + this.#difference;

  readonly ticks = (): number => performance.now();

  /** Asks a store for its time, now and then again and again. @returns what stops that */
  async follow(state: Pick<StateStore, 'time'>, { log, metrics }: Told): Promise<() => Promise<void>> {
    if (!state.time) return async () => {};
    const time = state.time.bind(state);
    metrics.gauge('wharf_clock_difference_seconds', () => this.#difference / 1000);
    // a store that is away is asked again; readiness says that it is
    const ask = () => this.#ask(time, log).catch(() => undefined);
    await ask();
    const timer = setInterval(() => void ask(), EVERY_MS).unref();
    return async () => clearInterval(timer);
  }

  async #ask(time: () => Promise<number>, log: Told['log']): Promise<void> {
    const began = performance.now();
    const theirs = await time();
    const took = performance.now() - began;
    if (took > SLOW_MS) return;
    const difference = Math.round(theirs + took / 2 - Date.now());
    this.#difference = Math.abs(difference) < LEAST_MS ? 0 : difference;
    const isFar = Math.abs(difference) >= WARN_MS;
    if (isFar && !this.#hasWarned) {
      const side = difference > 0 ? 'behind' : 'ahead of';
      log.warn(
        { differenceMs: difference },
        `the clock of this machine is ${timeText(Math.abs(difference))} ${side} that of the state store; Wharf goes by the latter`,
      );
    }
    this.#hasWarned = isFar;
  }
}
