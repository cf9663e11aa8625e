import type { Readable } from 'node:stream';
import { asGatewayError, type GatewayError } from '../errors.js';
import { type HeldBudget, HeldRequest } from '../files/budget.js';
import type { Limits } from '../policy/limits.js';
import { BodyMeter } from '../relay/body-meter.js';
import { IdFinder } from '../relay/request-id.js';

const LF = 0x0a;
const SPACE = 0x20;

/** One line of a client's: a message, or what is wrong with it and the id its sender waits for. */
export type InputLine = { bytes: Buffer } | { error: GatewayError; id: string | undefined };

/** One line while it arrives. What passes a limit is let go, and read on only for its id. */
class Line {
  readonly #limits: Limits;
  readonly #held: HeldRequest;
  #parts: Buffer[] = [];
  #length = 0;
  #meter: BodyMeter | undefined;
  #failed: { error: GatewayError; finder: IdFinder } | undefined;

  constructor(limits: Limits, held: HeldBudget) {
    this.#limits = limits;
    this.#held = new HeldRequest(held, limits);
  }

  add(part: Buffer): void {
    if (this.#failed) {
      this.#failed.finder.feed(part);
      return;
    }
    this.#parts.push(part);
    this.#length += part.length;
    try {
      this.#held.grow(part.length);
      if (this.#meter) this.#meter.take(part);
      else if (this.#length > this.#limits.message) {
        this.#meter = new BodyMeter(this.#limits);
        for (const earlier of this.#parts) this.#meter.take(earlier);
      }
    } catch (error) {
      const finder = new IdFinder();
      for (const earlier of this.#parts) finder.feed(earlier);
      this.release();
      this.#failed = { error: asGatewayError(error), finder };
    }
  }

  /** Undefined for a blank line. */
  end(): InputLine | undefined {
    if (this.#failed) {
      const { error, finder } = this.#failed;
      finder.end();
      return { error, id: finder.id };
    }
    const bytes = Buffer.concat(this.#parts);
    this.release();
    return bytes.some((byte) => byte > SPACE) ? { bytes } : undefined;
  }

  release(): void {
    this.#held.release();
    this.#parts = [];
    this.#length = 0;
  }
}

/**
 * The lines of standard input, under the limits of any other client's message: `limits.message` for what is no file,
 * `limits.inlineArgument` for each long string of its arguments, `limits.held` for all that is held at one time.
 */
export async function* inputLines(input: Readable, limits: Limits, held: HeldBudget): AsyncGenerator<InputLine> {
  let line = new Line(limits, held);
  try {
    for await (const chunk of input as AsyncIterable<Buffer>) {
      let at = 0;
      for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, at)) {
        line.add(chunk.subarray(at, end));
        const ended = line.end();
        line = new Line(limits, held);
        at = end + 1;
        if (ended) yield ended;
      }
      if (at < chunk.length) line.add(chunk.subarray(at));
    }
    // a line that the end cuts short may still be a whole message
    const last = line.end();
    if (last) yield last;
  } finally {
    line.release();
  }
}
