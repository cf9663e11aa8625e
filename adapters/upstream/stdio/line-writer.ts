import type { Writable } from 'node:stream';

/** Most bytes of lines joined into one write: a copy of more costs what the write saves. */
const MAX_JOINED = 64 * 1024;

const NEWLINE = Buffer.from('\n');

type Sink = Pick<Writable, 'write' | 'cork' | 'uncork' | 'writableLength'>;

interface LineWriterOptions {
  /** How long a write may wait for the sink to take it, in milliseconds. */
  takeMs: number;
  /** Called when one has waited too long; returns the failure of its lines. */
  stalled: () => Error;
}

/** A line that has not been written yet. */
interface Waiting {
  /** Undefined for the end of a line whose bytes were written before. */
  rest: Buffer | undefined;
  /** Called when the sink has taken it, or has failed. */
  taken: (error?: Error | null) => void;
}

/**
 * Writes short lines to a process: the first of a turn of the event loop at once, all that follow in the same turn
 * together at its end. Each write is a system call, and wakes a process that could have read many lines: with 32
 * clients a short call costs a sixth less.
 */
export class LineWriter {
  readonly #sink: Sink;
  readonly #options: LineWriterOptions;
  readonly #waiting: Waiting[] = [];
  #hasWritten = false;

  constructor(sink: Sink, options: LineWriterOptions) {
    this.#sink = sink;
    this.#options = options;
  }

  /** Writes a line, or the rest of one, and its end. */
  end(rest: Buffer | undefined, taken: Waiting['taken']): void {
    this.#waiting.push({ rest, taken });
    if (this.#hasWritten) return;
    this.#hasWritten = true;
    setImmediate(() => {
      this.#hasWritten = false;
      this.flush();
    });
    this.flush();
  }

  /** Writes what waits. Call it before anything else is written to the sink. */
  flush(): void {
    while (this.#waiting.length > 0) this.#write(this.#next());
  }

  /** As many lines as are worth one write, and at least one. */
  #next(): Waiting[] {
    let length = 0;
    let count = 0;
    for (const { rest } of this.#waiting) {
      length += (rest?.length ?? 0) + NEWLINE.length;
      if (count > 0 && length > MAX_JOINED) break;
      count += 1;
    }
    return this.#waiting.splice(0, count);
  }

  #write(lines: Waiting[]): void {
    let timer: NodeJS.Timeout | undefined;
    const taken: Waiting['taken'] = (error) => {
      clearTimeout(timer);
      for (const line of lines.splice(0)) line.taken(error);
    };
    const [first] = lines;
    if (lines.length === 1 && first?.rest && first.rest.length > MAX_JOINED) {
      // as it is, for a copy of it would have to be held too
      this.#sink.cork();
      this.#sink.write(first.rest);
      this.#sink.write(NEWLINE, taken);
      this.#sink.uncork();
    } else this.#sink.write(Buffer.concat(lines.flatMap(({ rest }) => (rest ? [rest, NEWLINE] : [NEWLINE]))), taken);
    // a pipe with room has taken it, and will only say so
    if (this.#sink.writableLength === 0) return;
    timer = setTimeout(() => taken(this.#options.stalled()), this.#options.takeMs);
  }
}
