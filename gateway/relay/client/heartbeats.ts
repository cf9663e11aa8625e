import { Line, type Place } from '../../budget/collections/line.js';

/** Proxies and clients give up a stream that is silent, many of them after 30 s or a minute. */
const BEAT_MS = 15_000;
/** How often some of the streams beat. */
const TICK_MS = 250;
const TICKS = BEAT_MS / TICK_MS;
/** A stream's first beat comes after this many ticks or more: most streams are over by then. */
const FIRST_TICK = 20;

/** A stream that beats. */
export interface Beating {
  beat(): void;
}

/** Its place among the others. */
export interface Heart {
  readonly line: Line<Beating>;
  readonly place: Place<Beating>;
}

/**
 * The beats of all open streams, 15 s apart for each, and spread over that time however many begin at once. With a timer
 * for each stream, those of 1000 streams that a restart had opened together took up to 180 ms in one turn of the event
 * loop, and all calls waited for it; it also passed for work, so that the process never gave its memory back.
 */
export class Heartbeats {
  readonly #ticks = Array.from({ length: TICKS }, () => new Line<Beating>());
  #now = 0;
  #delay = FIRST_TICK;
  #count = 0;
  #timer: NodeJS.Timeout | undefined;

  /** The stream beats at first after 5 to 15 s. It may remove itself. Does not keep the process alive. */
  add(stream: Beating): Heart {
    const line = this.#ticks[(this.#now + this.#delay) % TICKS] as Line<Beating>;
    this.#delay = this.#delay < TICKS ? this.#delay + 1 : FIRST_TICK;
    this.#count += 1;
    this.#timer ??= setInterval(() => this.#tick(), TICK_MS).unref();
    return { line, place: line.add(stream) };
  }

  /** Any number of times. */
  remove({ line, place }: Heart): void {
    if (!line.remove(place)) return;
    this.#count -= 1;
    if (this.#count > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #tick(): void {
    this.#now = (this.#now + 1) % TICKS;
    for (const stream of (this.#ticks[this.#now] as Line<Beating>).values()) stream.beat();
  }
}
