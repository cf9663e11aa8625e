import type { HeldRequest } from '../budget/held.js';
import { GatewayError } from '../errors.js';
import type { Limits } from '../policy/limits.js';
import type { JsonPath } from '../ports/json.js';
import { createReader, type MessageReader } from '../wire/json/reader.js';
import { ARGUMENT_TREE, argumentTooLarge, LONG_STRING, longestSpelling, readingError } from './body-meter.js';

/** A string in a call's arguments that is longer than may stand there. */
export interface TooLongArgument {
  /** Below the arguments. */
  path: JsonPath;
  /** Bytes of the file that it spells, if it is base64. */
  size: number;
}

/** Where a data: URI tells its type: what comes before the base64 is shorter than this. */
const HEAD = 1024;

/**
 * A client's message with a file that is too long to stand in it, read on to its end without that: its sender is a
 * model that wants to hear what to do instead, as an answer to its call, whose id often comes last. Long strings of the
 * arguments are empty in what is left.
 */
export class ShortenedBody {
  /** The first string that is too long, once its end has come. */
  tooLong: TooLongArgument | undefined;
  readonly #reader: MessageReader;
  readonly #limits: Limits;
  readonly #messages: Buffer[] = [];

  /**
   * @param held counts what is left, and is released by the caller
   * @param mostRead the most bytes of one string
   */
  constructor(limits: Limits, held: HeldRequest, mostRead: number) {
    this.#limits = limits;
    const most = longestSpelling(limits.inlineArgument);
    let counted = 0;
    let holding = 0;
    this.#reader = createReader('json', {
      tree: ARGUMENT_TREE,
      maxHeld: Number.POSITIVE_INFINITY,
      maxDepth: limits.depth,
      slotMin: LONG_STRING,
      handler: {
        slot: ({ path }) => {
          const seen = new Spelling();
          const at = path.slice(2);
          return {
            write: (chunk, start, end) => {
              seen.take(chunk, start, end);
              if (seen.length > mostRead) throw argumentTooLarge(at, limits.inlineArgument, seen.size);
            },
            end: () => {
              if (seen.length > most) this.tooLong ??= { path: at, size: seen.size };
            },
          };
        },
        held: (delta) => {
          holding += delta;
          if (holding > limits.message) {
            throw new GatewayError('message_too_large', {
              limit: 'limits.message',
              allowed: limits.message,
              actual: holding,
            });
          }
          if (holding <= counted) return;
          held.grow(holding - counted);
          counted = holding;
        },
        message: (message) => {
          this.#messages.push(Buffer.from(message.skeleton()));
        },
      },
    });
  }

  /** @throws GatewayError `message_too_large`, `argument_too_large`, `too_deep`, `json_malformed`, `held_full` */
  take(chunk: Buffer): void {
    try {
      this.#reader.feed(chunk);
    } catch (error) {
      throw readingError(error, this.#limits.depth);
    }
  }

  /** What is left, when the last byte has come. @throws GatewayError `json_malformed` */
  whole(): Buffer {
    try {
      this.#reader.end();
    } catch (error) {
      throw readingError(error, this.#limits.depth);
    }
    return Buffer.concat(this.#messages);
  }
}

/** What a long string spells, as far as its first and its last characters tell. */
class Spelling {
  length = 0;
  #head = '';
  #tail = '';

  take(chunk: Buffer, start: number, end: number): void {
    this.length += end - start;
    if (this.#head.length < HEAD) this.#head += chunk.toString('latin1', start, Math.min(end, start + HEAD));
    this.#tail = (this.#tail + chunk.toString('latin1', Math.max(start, end - 2), end)).slice(-2);
  }

  /** Decoded. */
  get size(): number {
    const before = /^data:[^,]*,/i.exec(this.#head)?.[0].length ?? 0;
    const padding = /={0,2}$/.exec(this.#tail)?.[0].length ?? 0;
    return Math.floor(((this.length - before - padding) * 3) / 4);
  }
}
