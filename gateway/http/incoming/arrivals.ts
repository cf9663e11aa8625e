import { FairLine, type FairPlace } from '../../budget/collections/line.js';
import { isTurnOver, presentTurn } from '../../budget/turn.js';

/** Requests that have waited are served for so long in one turn of the event loop. */
const SLICE_MS = 20;

/**
 * Most requests that are begun in one turn: what follows of each, once its body is there and once its server has answered, takes
 * several times as long. 31,000 that came at once, pipelined, made turns of 0.3 s.
 */
const MOST_BEGUN = 256;

/** Where more wait, no further connection is read: reading a body of 60 kB takes 0.1 to 0.2 ms. */
const MOST_WAITING = 128;

/** Most bytes of bodies that waiting requests have. */
const MOST_BYTES = 16 * 1024 * 1024;

/** A port closes after a turn of the event loop that was as short as that, or after so many: what comes within one is reset. */
const SHORT_TURN_MS = 1;
const MOST_LAST_TURNS = 20;

interface Waiting {
  readonly serve: () => void;
  bytes: number;
}

/** A request that waits to be served. */
export interface Arrival {
  /** So much of its body has come. It is served at once where those of all that wait have become too many. */
  came(bytes: number): void;
}

/** What is read of connections that have no request under way. */
export interface Reading {
  /** Reads none of them. */
  pause(): void;
  /** Reads some of them again. @returns whether there are more */
  readSome(): boolean;
}

/**
 * Requests that have come while this turn of the event loop has done enough. Node reads every connection that has sent something
 * before it does anything else: 3000 that did so at the same time made a turn of a second. So serving them is put off, and
 * where many wait, so is reading others: 4000 bodies of 60 kB took one to two seconds. Callers take turns, so that one that sends
 * thousands leaves the others in front of its own; those of one caller are served in order of arrival.
 */
export class Arrivals {
  readonly #reading: Reading;
  readonly #line = new FairLine<Waiting>();
  #waiting = 0;
  #bytes = 0;
  /** The last turn in which any came, and how many. */
  #turn = 0;
  #begun = 0;
  /** A later turn serves some. */
  #isGoingOn = false;
  /** Connections are not read. */
  #isPaused = false;
  #isEnding = false;

  constructor(reading: Reading) {
    this.#reading = reading;
  }

  /** Counts a request that comes now. @returns whether it must wait */
  mustWait(): boolean {
    const turn = presentTurn();
    if (turn !== this.#turn) this.#begun = 0;
    this.#turn = turn;
    this.#begun += 1;
    if (this.#isEnding) return false;
    return !this.#line.isEmpty || isTurnOver() || this.#begun > MOST_BEGUN;
  }

  /**
   * @param serve called once, in a later turn if its body is short
   * @param caller who is known to use its connection, from its first answer on
   * @param connection the one that it has come on: while its caller is not known, each connection has a turn, however much is
   * pipelined on it
   */
  wait(serve: () => void, caller: string | undefined, connection?: object): Arrival {
    const waiting = { serve, bytes: 0 };
    const place = this.#line.add(waiting, caller, connection);
    this.#waiting += 1;
    if (this.#waiting === MOST_WAITING) {
      this.#isPaused = true;
      this.#reading.pause();
    }
    this.#goOn();
    return { came: (bytes) => this.#grow(waiting, place, bytes) };
  }

  /**
   * Serves all that wait, and all that come from now on, at once: their port closes, and what has not begun would go without an
   * answer. What has come and was not read by then would have its connection reset.
   */
  async serveAll(): Promise<void> {
    this.#isEnding = true;
    if (this.#isPaused) {
      this.#isPaused = false;
      while (this.#reading.readSome());
    }
    for (let next = this.#line.take(); next; next = this.#line.take()) this.#serve(next);
    // in which the rest is read; the first may be past reading, and after a long one more has come
    let lasted = 0;
    for (let turns = 0; turns < 2 || (turns < MOST_LAST_TURNS && lasted > SHORT_TURN_MS); turns++) {
      const begun = performance.now();
      await new Promise(setImmediate);
      lasted = performance.now() - begun;
    }
  }

  #grow(waiting: Waiting, place: FairPlace<Waiting>, bytes: number): void {
    if (!place.place.isIn) return;
    waiting.bytes += bytes;
    this.#bytes += bytes;
    if (this.#bytes > MOST_BYTES && this.#line.remove(place)) this.#serve(waiting);
  }

  /** @param waiting out of the line */
  #serve({ bytes, serve }: Waiting): void {
    this.#waiting -= 1;
    this.#bytes -= bytes;
    serve();
  }

  #goOn(): void {
    if (this.#isGoingOn) return;
    this.#isGoingOn = true;
    setImmediate(this.#serveSome);
  }

  readonly #serveSome = (): void => {
    this.#isGoingOn = false;
    const end = performance.now() + SLICE_MS;
    let begun = 0;
    for (let next = this.#line.take(); next; next = this.#line.take()) {
      this.#serve(next);
      begun += 1;
      if (!this.#line.isEmpty && (begun === MOST_BEGUN || performance.now() >= end)) {
        this.#goOn();
        return;
      }
    }
    if (this.#isPaused) this.#isPaused = this.#reading.readSome();
    if (this.#isPaused) this.#goOn();
  };
}
