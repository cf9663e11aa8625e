import { isSpace } from './chars.js';
import { Collector } from './collector.js';
import { Grammar } from './grammar.js';
import type { ReaderOptions } from './handler.js';
import type { HeldMessage } from './held-message.js';

const LINE_FEED = Buffer.from('\n');

/**
 * Reads one JSON value in any number of pieces, keeps it in a `HeldMessage` and diverts strings at slots to their
 * sinks. Whoever calls it knows where a message begins and ends.
 */
export class Tokenizer {
  readonly #collector: Collector;
  readonly #grammar: Grammar;

  constructor(options: ReaderOptions) {
    this.#collector = new Collector(options);
    this.#grammar = new Grammar(this.#collector, options.maxDepth);
  }

  /** The value is complete. */
  get done(): boolean {
    return this.#grammar.done;
  }

  /** Begins a message; the next bytes are its own. */
  begin(message: HeldMessage): void {
    this.#collector.begin(message);
    this.#grammar.begin();
  }

  /** Must be called before bytes of a new chunk are pushed. */
  use(chunk: Buffer): void {
    this.#collector.chunk = chunk;
    this.#collector.scanner.use(chunk);
  }

  /**
   * Reads `[start, end)` of the chunk.
   * @returns the position after the value's last byte, or `end`
   * @throws WireError `held`, `depth`
   */
  push(start: number, end: number): number {
    if (start >= end) return end;
    const grammar = this.#grammar;
    const collector = this.#collector;
    if (grammar.done) return start;
    collector.resume(start);
    const at = grammar.opaque ? end : grammar.run(start, end);
    if (grammar.done || grammar.opaque) collector.leave(at);
    else collector.suspend(end);
    return at;
  }

  /** Holds what follows a complete value inside its frame or line: whitespace, or the message is malformed. */
  pushTrailing(start: number, end: number): void {
    this.#collector.resume(start);
    if (this.done) {
      const { chunk } = this.#collector;
      let at = start;
      while (at < end && isSpace(chunk[at] as number)) at++;
      if (at < end) this.fail('something follows the value', at);
    }
    this.#collector.leave(end);
  }

  /** Between the data lines of a frame stands a line feed that is in no chunk. */
  pushLineFeed(): void {
    const collector = this.#collector;
    // a cut string is looked at for its quote only, and repairing it in silence would make JSON of what is none
    if (collector.slot) this.fail('raw control character in a string', 0);
    // the scanner keeps what it knows of the chunk at hand: a line feed ends or fails any other state without it
    const { chunk } = collector;
    collector.chunk = LINE_FEED;
    if (this.done) this.pushTrailing(0, 1);
    else this.push(0, 1);
    collector.chunk = chunk;
  }

  /** The message ends here: a number that could have gone on is complete, any other unfinished value is malformed. */
  finish(): void {
    const grammar = this.#grammar;
    if (grammar.done || grammar.opaque) return;
    const collector = this.#collector;
    const isComplete = grammar.end();
    if (!isComplete && collector.message.empty) return;
    // no chunk is at hand any more, and everything is held
    collector.resume(0);
    if (!isComplete) this.fail('the value is incomplete', 0);
    else if (collector.scalar) collector.endScalar(0);
  }

  /** The message is not JSON: from here on its bytes are only held. */
  fail(reason: string, at: number): void {
    this.#grammar.fail(reason, at);
  }
}
