import { Line } from './line.js';

/** Checks per time-out. */
const LOOKS = 10;

interface Waiter {
  /** When it is due, in attentive time. */
  due: number;
  late: () => void;
}

/**
 * A time-out that runs only while this process can notice an answer. After a busy turn of the event loop, timers fire
 * before the sockets are read: a plain timer would blame a store for Wharf's own work. So this one checks after the
 * sockets were read, and counts a long turn as a short one.
 *
 * All waits are equally long, so one timer serves all, in order of arrival.
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
      this.#start();
      const place = this.#waiting.add({ due: this.#attentive + this.#ms, late: () => reject(late()) });
      const ended = () => {
        this.#waiting.remove(place);
        // the timer runs once more, for the next wait, and must not keep a process that is done
        if (!this.#waiting.firstPlace) this.#timer?.unref();
      };
      promise.then(
        (value) => {
          ended();
          resolve(value);
        },
        (error) => {
          ended();
          reject(error);
        },
      );
    });
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
