import type { HeldBytes } from '../../budget/held.js';
import { GatewayError } from '../../errors.js';
import { BodyMeter, longestSpelling } from '../../mcp/body-meter.js';
import { ShortenedBody, type TooLongArgument } from '../../mcp/shortened-body.js';
import type { Limits } from '../../policy/limits.js';
import { GatheredBytes } from '../cut/gathered-bytes.js';

/** A client's message as it arrives: joins its chunks and applies its limits. HTTP and stdio both use it. */
export class IncomingBody {
  readonly #limits: Limits;
  readonly #held: HeldBytes;
  readonly #mostRead: number;
  readonly #bytes = new GatheredBytes();
  #meter: BodyMeter | undefined;
  #shortened: ShortenedBody | undefined;

  /**
   * @param held released by the caller
   * @param mostRead most bytes of one argument that are read without being kept; default: the size of the largest file,
   * since a larger one could not be uploaded either
   */
  constructor(limits: Limits, held: HeldBytes, mostRead = longestSpelling(limits.file)) {
    this.#limits = limits;
    this.#mostRead = mostRead;
    this.#held = held;
  }

  /** What has arrived so far; empty while the message is being shortened. */
  get pieces(): readonly Buffer[] {
    return this.#bytes.pieces;
  }

  /** The argument that was too long to be kept; it is empty in the message. */
  get tooLong(): TooLongArgument | undefined {
    return this.#shortened?.tooLong;
  }

  /**
   * The limits count the received bytes, whatever was announced: `limits.message` for everything that is not a file,
   * `limits.inlineArgument` for each long string of its arguments, `limits.held` for all bytes held at one time. A
   * message past the second limit is read further without being kept, so that the call can be answered: see `tooLong`.
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

  /** From now on long arguments are not kept: the rest suffices to answer the call. */
  #shorten(): void {
    const earlier = [...this.pieces];
    this.#held.release();
    this.#meter = undefined;
    this.#shortened = new ShortenedBody(this.#limits, this.#held, this.#mostRead);
    for (const piece of earlier) this.#shortened.take(piece);
    this.#bytes.clear();
  }

  /** The whole message, after its last byte. @throws GatewayError `json_malformed` for a shortened one */
  whole(): Buffer {
    return this.#shortened?.whole() ?? this.#bytes.whole();
  }

  /** Releases its bytes; the caller releases their count. */
  clear(): void {
    this.#bytes.clear();
    this.#meter = undefined;
    this.#shortened = undefined;
  }
}
