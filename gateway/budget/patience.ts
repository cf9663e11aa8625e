import { Line } from './line.js';

/** The part of the time-out after which it is looked again. */
const LOOKS = 10;

interface Waiter {
  /** In attentive time. */
  due: number;
  late: () => void;
}

/**
 * A time-out that runs only while this process can notice an answer. When the event loop was busy, its timers come
 * before what has arrived at its sockets meanwhile: a plain timer would blame a store for Wharf's own work. So a look
 * comes after the sockets were read, and a long turn counts as a short one.
 *
 * All that wait wait equally long, so one timer serves all, in the order in which they came.
 */
export class Patience {
  readonly #ms: number;
  readonly #everyMs: number;
  readonly #waiting = new Line<Waiter>();
  /** Milliseconds that have passed as far as the loop was there to see them. */
  #attentive = 0;
  #lookedAt = 0;
  #timer: NodeJS.Timeout | undefined;

  /** @param ms of attentive time that an answer may take */
  constructor(ms: number) {
    this.#ms = ms;
    this.#everyMs = Math.max(1, ms / LOOKS);
  }

  /** What the promise gives, unless it takes too long. @throws what the promise does, or what `late` makes */
  within<T>(promise: Promise<T>, late: () => Error): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#start();
      const place = this.#waiting.add({ due: this.#attentive + this.#ms, late: () => reject(late()) });
      promise.then(
        (value) => {
          this.#waiting.remove(place);
          resolve(value);
        },
        (error) => {
          this.#waiting.remove(place);
          reject(error);
        },
      );
    });
  }

  #start(): void {
    if (this.#timer) return;
    this.#lookedAt = performance.now();
    this.#timer = setInterval(() => {
      this.#pass();
      setImmediate(() => this.#look());
    }, this.#everyMs);
  }

  /** A turn of the loop that took longer than two looks was Wharf's own. */
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
