import { Line, type Place } from '../../budget/line.js';
import { beginStep, isTurnOver } from '../../budget/turn.js';

/** Requests that have waited are served for so long in one turn of the event loop. */
const SLICE_MS = 20;

/** Most bytes of bodies that waiting requests have: of 10,000 connections it could be 640 MB. */
const MOST_BYTES = 16 * 1024 * 1024;

interface Waiting {
  readonly serve: () => void;
  bytes: number;
}

/** A request that waits to be served. */
export interface Arrival {
  /** So much of its body has come. It is served at once where those of all that wait have become too many. */
  came(bytes: number): void;
}

/**
 * Requests that have come while this turn of the event loop has done enough. Node reads every connection that has sent something
 * before it does anything else: 3000 that did so at the same time made a turn of a second. What takes the time is to serve
 * them, so that is put off, in order of arrival. Newcomers wait behind those that came before.
 */
export class Arrivals {
  readonly #line = new Line<Waiting>();
  #bytes = 0;

  /** True when a request that comes now must wait. */
  get isBusy(): boolean {
    beginStep();
    return this.#line.first !== undefined || isTurnOver();
  }

  /** @param serve called once, in a later turn if its body is short */
  wait(serve: () => void): Arrival {
    if (this.#line.first === undefined) setImmediate(this.#serveSome);
    const place = this.#line.add({ serve, bytes: 0 });
    return { came: (bytes) => this.#grow(place, bytes) };
  }

  /** Serves all that wait, at once: their port closes, and what has not begun would go without an answer. */
  serveAll(): void {
    for (let first = this.#line.firstPlace; first; first = this.#line.firstPlace) this.#serve(first);
  }

  #grow(place: Place<Waiting>, bytes: number): void {
    if (!place.isIn) return;
    place.value.bytes += bytes;
    this.#bytes += bytes;
    if (this.#bytes > MOST_BYTES) this.#serve(place);
  }

  #serve(place: Place<Waiting>): void {
    this.#line.remove(place);
    this.#bytes -= place.value.bytes;
    place.value.serve();
  }

  readonly #serveSome = (): void => {
    const end = performance.now() + SLICE_MS;
    let first = this.#line.firstPlace;
    while (first) {
      this.#serve(first);
      first = this.#line.firstPlace;
      if (first && performance.now() >= end) {
        setImmediate(this.#serveSome);
        return;
      }
    }
  };
}
