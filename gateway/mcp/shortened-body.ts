import type { HeldBytes } from '../budget/held.js';
import type { Limits } from '../policy/limits.js';
import type { JsonPath } from '../ports/json.js';
import { createReader, type MessageReader } from '../wire/json/reader.js';
import {
  ARGUMENT_TREE,
  argumentTooLarge,
  longestSpelling,
  readingError,
  refuseLong,
  shortestFile,
} from './body-meter.js';

/** A string in a call's arguments that exceeds its limit. */
export interface TooLongArgument {
  /** Below the arguments. */
  path: JsonPath;
  /** Bytes of the file that it encodes, if it is base64. */
  size: number;
}

/** Where to look for a data: URI's type: the part before the base64 is shorter than this. */
const HEAD = 1024;

/** A body is one value: a second one makes it malformed, and more of them would only take memory, of which each takes much. */
const MOST_VALUES = 2;

/**
 * Reads a client's message with a file that is too long for it to the end, without the file. Its sender is a model,
 * which needs to be told what to do instead, in an answer to its call, whose id often comes last. Long strings in the
 * arguments are left empty.
 */
export class ShortenedBody {
  /** The first string that is too long, set at its end. */
  tooLong: TooLongArgument | undefined;
  readonly #reader: MessageReader;
  readonly #limits: Limits;
  readonly #messages: Buffer[] = [];

  /**
   * @param held counts the rest of the message; released by the caller
   * @param mostRead most bytes of one string
   */
  constructor(limits: Limits, held: Pick<HeldBytes, 'grow'>, mostRead: number) {
    this.#limits = limits;
    const most = longestSpelling(limits.inlineArgument);
    let counted = 0;
    let holding = 0;
    this.#reader = createReader('json', {
      tree: ARGUMENT_TREE,
      maxDepth: limits.depth,
      slotMin: shortestFile(limits),
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
        held: (delta, message) => {
          holding += delta;
          refuseLong(holding, message, limits);
          if (holding <= counted) return;
          held.grow(holding - counted);
          counted = holding;
        },
        message: (message) => {
          if (this.#messages.length < MOST_VALUES) this.#messages.push(Buffer.from(message.skeleton()));
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

  /** The rest of the message, after the last byte. @throws GatewayError `json_malformed` */
  whole(): Buffer {
    try {
      this.#reader.end();
    } catch (error) {
      throw readingError(error, this.#limits.depth);
    }
    return Buffer.concat(this.#messages);
  }
}

/** The size of a long string's content, estimated from its first and last characters. */
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
