import type { HeldRequest } from '../../budget/held.js';
import { GatewayError } from '../../errors.js';
import { BodyMeter, longestSpelling } from '../../mcp/body-meter.js';
import { ShortenedBody, type TooLongArgument } from '../../mcp/shortened-body.js';
import type { Limits } from '../../policy/limits.js';
import { GatheredBytes } from '../cut/gathered-bytes.js';

/**
 * A client's message while it arrives: its bytes, at what they cost in whatever chunks they come, and the limits that
 * they have to keep. The same for both faces.
 */
export class IncomingBody {
  readonly #limits: Limits;
  readonly #held: HeldRequest;
  readonly #mostRead: number;
  readonly #bytes = new GatheredBytes();
  #meter: BodyMeter | undefined;
  #shortened: ShortenedBody | undefined;

  /**
   * @param held released by the caller
   * @param mostRead the most bytes of one argument that are read though they are not kept. By default what a file may
   *   have: a larger one could not be uploaded either
   */
  constructor(limits: Limits, held: HeldRequest, mostRead = longestSpelling(limits.file)) {
    this.#limits = limits;
    this.#mostRead = mostRead;
    this.#held = held;
  }

  /** What has come so far; nothing of what is being shortened. */
  get pieces(): readonly Buffer[] {
    return this.#bytes.pieces;
  }

  /** The argument that was too long to be kept: it is empty in the message. */
  get tooLong(): TooLongArgument | undefined {
    return this.#shortened?.tooLong;
  }

  /**
   * The limits count what was received, whatever was announced: `limits.message` for what is no file,
   * `limits.inlineArgument` for each long string of its arguments, `limits.held` for all that is held at one time.
   * What passes the second is read on without being kept, for the call to be answered: `tooLong` tells.
   * @throws GatewayError `message_too_large`, `argument_too_large`, `too_deep`, `json_malformed`, `held_full`
   */
  take(chunk: Buffer): void {
    if (this.#shortened) {
      this.#shortened.take(chunk);
      return;
    }
    this.#bytes.add(chunk);
    this.#held.grow(chunk.length);
    try {
      this.#measure(chunk);
    } catch (error) {
      if (!(error instanceof GatewayError) || error.code !== 'argument_too_large') throw error;
      this.#shorten();
    }
  }

  #measure(chunk: Buffer): void {
    if (this.#meter) this.#meter.take(chunk);
    else if (this.#bytes.size > this.#limits.message) {
      this.#meter = new BodyMeter(this.#limits);
      for (const earlier of this.pieces) this.#meter.take(earlier);
    }
  }

  /** From now on nothing of long arguments is kept: what is left is enough to answer the call. */
  #shorten(): void {
    const earlier = [...this.pieces];
    this.#held.release();
    this.#meter = undefined;
    this.#shortened = new ShortenedBody(this.#limits, this.#held, this.#mostRead);
    for (const piece of earlier) this.#shortened.take(piece);
    this.#bytes.clear();
  }

  /** The whole message, when its last byte has come. @throws GatewayError `json_malformed` of one that was shortened */
  whole(): Buffer {
    return this.#shortened?.whole() ?? this.#bytes.whole();
  }

  /** Lets go of its bytes; what they count is the caller's to release. */
  clear(): void {
    this.#bytes.clear();
    this.#meter = undefined;
    this.#shortened = undefined;
  }
}
