import { GatewayError } from '../../errors.js';

/** Something that came before the result of an `initialize`. */
export interface Early {
  forward: () => Promise<void>;
  /** Instead of `forward`, when there is nobody any more to forward it to. */
  drop: () => Promise<void>;
}

/** Each is in memory until the session is open, however short it is; servers say two or three things before that. */
const MAX_EARLY = 1000;

/** What waits for the session before the head of an answer may go out. */
export class EarlyMessages {
  #waiting: Early[] = [];
  /** The last thing in it is a blank: more of them say no more. */
  #isSpaced = false;

  /** @throws GatewayError `upstream_invalid` when there are too many */
  add(early: Early): void {
    this.#isSpaced = false;
    this.#push(early);
  }

  /** Whitespace between two values. */
  space(forward: () => Promise<void>): void {
    if (this.#isSpaced) return;
    this.#isSpaced = true;
    this.#push({ forward, drop: async () => {} });
  }

  /** All of it, in order; none is left. */
  take(): Early[] {
    const taken = this.#waiting;
    this.#waiting = [];
    return taken;
  }

  #push(early: Early): void {
    if (this.#waiting.length >= MAX_EARLY) {
      throw new GatewayError('upstream_invalid', { reason: `more than ${MAX_EARLY} messages before an answer` });
    }
    this.#waiting.push(early);
  }
}
