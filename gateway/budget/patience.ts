import { Line, type Place } from './collections/line.js';

/** Checks per time-out. */
const LOOKS = 10;

interface Waiter {
  /** When it is due, in attentive time. */
  due: number;
  late: () => void;
}

/** A wait that has begun. */
export type Wait = Place<Waiter>;

/**
 * A time-out that runs only while this process can notice an answer. After a busy turn of the event loop, timers fire
 * before the sockets are read: a plain timer would blame a store for Wharf's own work. So this one checks after the
 * sockets were read, and counts a long turn as a short one.
 *
 * All waits are equally long, so one timer serves all, in order of arrival: one of its own for each short message took 3 of
 * its 100 µs.
 */
export class Patience {
  readonly #ms: number;
  readonly #everyMs: number;
  readonly #waiting = new Line<Waiter>();
  /** Milliseconds during which the loop was able to notice answers. */
  #attentive = 0;
  #lookedAt = 0;
  #timer: NodeJS.Timeout | undefined;

  /** @param ms attentive time that an answer may take */
  constructor(ms: number) {
    this.#ms = ms;
    this.#everyMs = Math.max(1, ms / LOOKS);
  }

  /**
   * Resolves as the promise does, unless that takes too long. @throws the promise's error, or the error that `late`
   * makes
   */
  within<T>(promise: Promise<T>, late: () => Error): Promise<T> {
    return new Promise((resolve, reject) => {
      const wait = this.begin(() => reject(late()));
      promise.then(
        (value) => {
          this.end(wait);
          resolve(value);
        },
        (error) => {
          this.end(wait);
          reject(error);
        },
      );
    });
  }

  /** @param late called once, unless the wait is ended before */
  begin(late: () => void): Wait {
    this.#start();
    // the time since the last check does not belong to this wait, which would otherwise end up to a tenth too early
    const before = Math.min(performance.now() - this.#lookedAt, 2 * this.#everyMs);
    return this.#waiting.add({ due: this.#attentive + before + this.#ms, late });
  }

  end(wait: Wait): void {
    this.#waiting.remove(wait);
    // the timer runs once more, for the next wait, and must not keep a process that is done
    if (!this.#waiting.firstPlace) this.#timer?.unref();
  }

  #start(): void {
    if (this.#timer) {
      this.#timer.ref();
      return;
    }
    this.#lookedAt = performance.now();
    this.#timer = setInterval(() => {
      this.#pass();
      setImmediate(() => this.#look());
    }, this.#everyMs);
  }

  /** A turn of the loop longer than two checks was Wharf's own work. */
  #pass(): void {
    const now = performance.now();
    this.#attentive += Math.min(now - this.#lookedAt, 2 * this.#everyMs);
    this.#lookedAt = now;
  }

  #look(): void {
    let first = this.#waiting.firstPlace;
    while (first && first.value.due <= this.#attentive) {
      this.#waiting.remove(first);
      first.value.late();
      first = this.#waiting.firstPlace;
    }
    if (first || !this.#timer) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
