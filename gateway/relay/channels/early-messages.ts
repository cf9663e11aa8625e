import { GatewayError } from '../../errors.js';

/** A message that came before the result of an `initialize`. */
interface Early {
  forward: () => Promise<void>;
  /** Replaces `forward` when the client has gone. */
  drop: () => Promise<void>;
}

/** Each stays in memory until the session is open, however short it is; servers send two or three before that. */
const MAX_EARLY = 1000;

/** What waits for the session before the head of an answer may be sent. */
export class EarlyMessages {
  readonly #waiting: Early[] = [];
  /** True when the last entry is a blank: further ones are redundant. */
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

  /** Forwards them in order. Where one cannot be forwarded, those behind it are dropped. */
  async forward(): Promise<void> {
    try {
      for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) await next.forward();
    } finally {
      await this.drop();
    }
  }

  async drop(): Promise<void> {
    for (const { drop } of this.#waiting.splice(0)) await drop();
  }

  #push(early: Early): void {
    if (this.#waiting.length >= MAX_EARLY) {
      throw new GatewayError('upstream_invalid', { reason: `more than ${MAX_EARLY} messages before an answer` });
    }
    this.#waiting.push(early);
  }
}
