import { CR, LF, OPEN_OBJECT } from '../../wire/json/chars.js';
import type { ChannelDeps } from './deps.js';
import type { PostStream } from './post-stream.js';
import { answeredIn, mayNeedWork, mustBeRead, shortLimit } from './short-answer.js';
import type { ChannelStreams } from './streams.js';

interface ShortLinesOptions {
  deps: ChannelDeps;
  streams: ChannelStreams;
  /** False while a line must wait for what came before it. */
  mayPass: () => boolean;
  /** A line under the names that its client gave; undefined where it must be read for that. */
  named: (line: Buffer, id: string) => readonly Buffer[] | undefined;
  /** Sends the answer to the request with this id on. */
  pass: (pieces: readonly Buffer[], id: string, stream: PostStream) => void;
  /** Reads what does not pass. @returns set while the source must wait */
  read: (bytes: Buffer) => Promise<unknown> | undefined;
  /** Set while the source must wait for lines that have passed. */
  waits: () => Promise<unknown> | undefined;
}

/**
 * The lines of a server that are one answer each, too short to hold a file: most are. Where nothing in such a line needs
 * work it is sent on as it came, but for its id where several clients use the channel. With the reader, and the stages that look for work, a short call costs a third more.
 */
export class ShortLines {
  readonly #options: ShortLinesOptions;
  readonly #most: number;
  /** The reader has the beginning of a line, and not its end. */
  #isInLine = false;

  constructor(options: ShortLinesOptions) {
    this.#options = options;
    this.#most = shortLimit(options.deps);
  }

  /** Takes bytes as they come. @returns set while the source must wait */
  feed(chunk: Buffer): Promise<unknown> | undefined {
    if (this.#isInLine) {
      const end = chunk.indexOf(LF) + 1;
      if (end === 0 || end === chunk.length) return this.#read(chunk);
      const waits = this.#read(chunk.subarray(0, end));
      const rest = chunk.subarray(end);
      return waits ? waits.then(() => this.feed(rest)) : this.feed(rest);
    }
    const passed = this.#passFirst(chunk);
    return passed === chunk.length ? this.#options.waits() : this.#read(chunk.subarray(passed));
  }

  #read(bytes: Buffer): Promise<unknown> | undefined {
    this.#isInLine = bytes.at(-1) !== LF;
    return this.#options.read(bytes);
  }

  /** Sends on the first lines, as many as it can. @returns the bytes of them */
  #passFirst(chunk: Buffer): number {
    for (let at = 0; ; ) {
      const end = chunk.indexOf(LF, at);
      if (end < 0 || end - at > this.#most || !this.#passes(chunk.subarray(at, end))) return at;
      at = end + 1;
    }
  }

  #passes(line: Buffer): boolean {
    const { deps, streams, mayPass, named, pass } = this.#options;
    // a carriage return would end the line of an event
    if (line[0] !== OPEN_OBJECT || !mayPass() || line.includes(CR)) return false;
    const id = answeredIn(line, deps.limits.depth);
    const stream = id === undefined ? undefined : streams.of(id);
    if (id === undefined || !stream || stream.gone) return false;
    const request = stream.pending.get(id);
    if (!request || mustBeRead([request], deps) || mayNeedWork(line, [request], stream.caller.client, deps))
      return false;
    const pieces = named(line, id);
    if (!pieces) return false;
    pass(pieces, id, stream);
    return true;
  }
}
