import type { HeldBytes } from '../../budget/held.js';
import { isTurnOver } from '../../budget/turn.js';
import { GatewayError } from '../../errors.js';
import { BodyMeter, longestSpelling } from '../../mcp/body-meter.js';
import { ShortenedBody, type TooLongArgument } from '../../mcp/shortened-body.js';
import type { Limits } from '../../policy/limits.js';
import { GatheredBytes } from '../cut/gathered-bytes.js';

/**
 * Bytes that are read in one step. A message is read from its beginning only when it turns out to be long: 4 MB of short
 * values took 150 ms in one go.
 */
const STEP = 64 * 1024;

/** A client's message as it arrives: joins its chunks and applies its limits. HTTP and stdio both use it. */
export class IncomingBody {
  readonly #limits: Limits;
  readonly #held: HeldBytes;
  readonly #mostRead: number;
  readonly #bytes = new GatheredBytes();
  #meter: BodyMeter | undefined;
  #shortened: ShortenedBody | undefined;
  /** How many of the bytes the meter, or what shortens them, has read. */
  #read = 0;
  /** Bytes that a message keeps while it is being shortened; they count once the others are released. */
  #kept = 0;

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

  /** What has arrived so far; empty once the message is shortened. */
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
    this.add(chunk);
    while (!this.catchUp());
  }

  /** Keeps a chunk that `catchUp` measures later, beside other work. @throws GatewayError as `take` */
  add(chunk: Buffer): void {
    if (this.#shortened && !this.#isBehind) {
      this.#shortened.take(chunk);
      return;
    }
    this.#bytes.add(chunk);
    this.#held.grow(chunk.length);
  }

  /**
   * Measures what has arrived, for as long as this turn of the event loop may last.
   * @returns true once all of it is measured
   * @throws GatewayError as `take`
   */
  catchUp(): boolean {
    if (!this.#meter && !this.#shortened && this.#bytes.size > this.#limits.message) {
      this.#meter = new BodyMeter(this.#limits);
    }
    while (this.#isBehind) {
      this.#step();
      if (isTurnOver()) break;
    }
    if (this.#isBehind) return false;
    if (this.#shortened && this.#bytes.size > 0) this.#forget();
    return true;
  }

  get #isBehind(): boolean {
    return (this.#meter !== undefined || this.#shortened !== undefined) && this.#read < this.#bytes.size;
  }

  #step(): void {
    const end = Math.min(this.#read + STEP, this.#bytes.size);
    const next = this.#bytes.slices(this.#read, end);
    this.#read = end;
    if (this.#shortened) {
      for (const piece of next) this.#shortened.take(piece);
      return;
    }
    try {
      for (const piece of next) this.#meter?.take(piece);
    } catch (error) {
      if (!(error instanceof GatewayError) || error.code !== 'argument_too_large') throw error;
      this.#shorten();
    }
  }

  /** From now on long arguments are not kept: the rest suffices to answer the call. */
  #shorten(): void {
    this.#meter = undefined;
    const grow = (bytes: number) => {
      if (this.#bytes.size > 0) this.#kept += bytes;
      else this.#held.grow(bytes);
    };
    this.#shortened = new ShortenedBody(this.#limits, { grow }, this.#mostRead);
    this.#read = 0;
  }

  /** The shortened message has read all that came before it. */
  #forget(): void {
    this.#bytes.clear();
    this.#read = 0;
    this.#held.release();
    this.#held.grow(this.#kept);
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
    this.#read = 0;
  }
}
