import type { Readable } from 'node:stream';
import { type HeldBudget, HeldRequest } from '../budget/held.js';
import { asGatewayError, type GatewayError } from '../errors.js';
import { IdFinder } from '../mcp/request-id.js';
import type { TooLongArgument } from '../mcp/shortened-body.js';
import type { Limits } from '../policy/limits.js';
import type { Owner } from '../ports/owner.js';
import { IncomingBody } from '../relay/client/incoming-body.js';
import { isBlank } from '../wire/blank.js';

const LF = 0x0a;

/** A message, and an argument of it that was too long to be kept. */
export interface MessageLine {
  bytes: Buffer;
  tooLong: TooLongArgument | undefined;
}

/** One line of a client: a message, or its error and the id that its sender waits for. */
type InputLine = MessageLine | { error: GatewayError; id: string | undefined };

/** One line as it arrives. A line past a limit is released, and read further only for its id. */
class Line {
  readonly #held: HeldRequest;
  readonly #body: IncomingBody;
  #failed: { error: GatewayError; finder: IdFinder } | undefined;

  constructor(limits: Limits, held: HeldBudget, owner: Owner) {
    this.#held = new HeldRequest(held, limits, owner);
    // a line has to be read to its end anyway
    this.#body = new IncomingBody(limits, this.#held, Number.POSITIVE_INFINITY);
  }

  add(part: Buffer): void {
    if (this.#failed) {
      this.#failed.finder.feed(part);
      return;
    }
    if (part.length === 0) return;
    try {
      this.#body.take(part);
    } catch (error) {
      const finder = new IdFinder();
      for (const earlier of this.#body.pieces) finder.feed(earlier);
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
    try {
      const whole = this.#body.whole();
      const { pieces, tooLong } = this.#body;
      // copied: a short line must not keep the whole chunk in memory
      const bytes = pieces.length === 1 ? Buffer.from(whole) : whole;
      return isBlank(bytes) ? undefined : { bytes, tooLong };
    } catch (error) {
      return { error: asGatewayError(error), id: undefined };
    } finally {
      this.release();
    }
  }

  release(): void {
    this.#held.release();
    this.#body.clear();
  }
}

/**
 * The lines of standard input, under the same limits as other clients' messages: `limits.message` for everything that
 * is not a file, `limits.inlineArgument` for each long string of its arguments, `limits.held` for all bytes held at one
 * time.
 */
export async function* inputLines(
  input: Readable,
  limits: Limits,
  held: HeldBudget,
  owner: Owner,
): AsyncGenerator<InputLine> {
  let line = new Line(limits, held, owner);
  try {
    for await (const chunk of input as AsyncIterable<Buffer>) {
      let at = 0;
      for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, at)) {
        line.add(chunk.subarray(at, end));
        const ended = line.end();
        line = new Line(limits, held, owner);
        at = end + 1;
        if (ended) yield ended;
      }
      if (at < chunk.length) line.add(chunk.subarray(at));
    }
    // a line cut short by the end may still be a whole message
    const last = line.end();
    if (last) yield last;
  } finally {
    line.release();
  }
}
