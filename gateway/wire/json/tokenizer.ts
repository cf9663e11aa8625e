import { isSpace } from './chars.js';
import { Collector } from './collector.js';
import { Grammar } from './grammar.js';
import type { ReaderOptions } from './handler.js';
import type { HeldMessage } from './held-message.js';

const LINE_FEED = Buffer.from('\n');

/**
 * Reads one JSON value in any number of pieces, keeps it in a `HeldMessage` and diverts strings at slots to their
 * sinks. The caller knows where a message begins and ends.
 */
export class Tokenizer {
  readonly #collector: Collector;
  readonly #grammar: Grammar;

  constructor(options: ReaderOptions) {
    this.#collector = new Collector(options);
    this.#grammar = new Grammar(this.#collector, options.maxDepth ?? Number.POSITIVE_INFINITY);
  }

  /** The value is complete. */
  get done(): boolean {
    return this.#grammar.done;
  }

  /** Begins a message, which the next bytes belong to. */
  begin(message: HeldMessage): void {
    this.#collector.begin(message);
    this.#grammar.begin();
  }

  /** Call it before pushing bytes of a new chunk. */
  use(chunk: Buffer): void {
    this.#collector.chunk = chunk;
    this.#collector.runs.use(chunk);
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

  /** Holds what follows a complete value in its frame or line. Anything but whitespace makes the message malformed. */
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

  /** Adds the line feed between the data lines of a frame; no chunk contains it. */
  pushLineFeed(): void {
    const collector = this.#collector;
    // in a cut string only the quote is looked for; dropping the line feed silently would turn malformed bytes into
    // JSON
    if (collector.slot) this.fail('raw control character in a string', 0);
    // `runs` keeps its knowledge of the current chunk: in any other state a line feed ends or fails the value
    // without it
    const { chunk } = collector;
    collector.chunk = LINE_FEED;
    if (this.done) this.pushTrailing(0, 1);
    else this.push(0, 1);
    collector.chunk = chunk;
  }

  /** Ends the message: completes a number that could have gone on; any other unfinished value is malformed. */
  finish(): void {
    const grammar = this.#grammar;
    if (grammar.done || grammar.opaque) return;
    const collector = this.#collector;
    const isComplete = grammar.end();
    if (!isComplete && collector.message.empty) return;
    // the last chunk has ended, and everything is held
    collector.resume(0);
    if (!isComplete) this.fail('the value is incomplete', 0);
    else if (collector.scalar) collector.endScalar(0);
  }

  /** Marks the message as not JSON: from here on its bytes are only held. */
  fail(reason: string, at: number): void {
    this.#grammar.fail(reason, at);
  }
}
