import type { HeldRequest } from '../budget/held.js';
import type { Limits } from '../policy/limits.js';
import { BodyMeter } from './body-meter.js';
import { GatheredBytes } from './gathered-bytes.js';

/**
 * A client's message while it arrives: its bytes, at what they cost in whatever chunks they come, and the limits that
 * they have to keep. The same for both faces.
 */
export class IncomingBody {
  readonly #limits: Limits;
  readonly #held: HeldRequest;
  readonly #bytes = new GatheredBytes();
  #meter: BodyMeter | undefined;

  /** @param held released by the caller */
  constructor(limits: Limits, held: HeldRequest) {
    this.#limits = limits;
    this.#held = held;
  }

  /** What has come so far. */
  get pieces(): readonly Buffer[] {
    return this.#bytes.pieces;
  }

  /**
   * The limits count what was received, whatever was announced: `limits.message` for what is no file,
   * `limits.inlineArgument` for each long string of its arguments, `limits.held` for all that is held at one time.
   * @throws GatewayError `message_too_large`, `argument_too_large`, `too_deep`, `json_malformed`, `held_full`
   */
  take(chunk: Buffer): void {
    this.#bytes.add(chunk);
    this.#held.grow(chunk.length);
    if (this.#meter) this.#meter.take(chunk);
    else if (this.#bytes.size > this.#limits.message) {
      this.#meter = new BodyMeter(this.#limits);
      for (const earlier of this.pieces) this.#meter.take(earlier);
    }
  }

  /** The whole message, when its last byte has come. */
  whole(): Buffer {
    return this.#bytes.whole();
  }

  /** Lets go of its bytes; what they count is the caller's to release. */
  clear(): void {
    this.#bytes.clear();
    this.#meter = undefined;
  }
}
