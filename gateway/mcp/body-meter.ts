import { GatewayError, tooDeep } from '../errors.js';
import type { Limits } from '../policy/limits.js';
import type { JsonPath } from '../ports/json.js';
import { WireError } from '../wire/errors.js';
import { countedBytes, createReader, type HeldMessage, type MessageReader } from '../wire/json/reader.js';
import { compileWatchTree } from '../wire/json/watch-tree.js';

/** Every string in a call's arguments may be a file. */
export const ARGUMENT_TREE = compileWatchTree({ keys: { params: { keys: { arguments: { deep: 'argument' } } } } });

const SHORT_STRING = 4 * 1024;
const LONG_STRING = 64 * 1024;

/** Shorter strings count as part of the message: a file that is small, by itself or beside the limit, needs no allowance. */
export function shortestFile({ message }: Pick<Limits, 'message'>): number {
  return Math.min(LONG_STRING, Math.max(SHORT_STRING, Math.ceil(message / 8)));
}

/** Room for a data: URI's head with a name, and for a few escapes. */
const SPELLING_ALLOWANCE = 16 * 1024;

/** The longest JSON spelling of a file with this many bytes. */
export function longestSpelling(bytes: number): number {
  return Math.ceil(bytes / 3) * 4 + SPELLING_ALLOWANCE;
}

/**
 * Separates message and files of a client's body as it arrives: `limits.message` applies to everything that cannot be a
 * file, and `limits.inlineArgument` to each string that may be one. So neither must be read to its end to be refused.
 */
export class BodyMeter {
  readonly #reader: MessageReader;
  readonly #maxDepth: number;
  #held = 0;

  constructor(limits: Limits) {
    this.#maxDepth = limits.depth;
    const most = longestSpelling(limits.inlineArgument);
    this.#reader = createReader('json', {
      tree: ARGUMENT_TREE,
      maxDepth: limits.depth,
      slotMin: shortestFile(limits),
      handler: {
        slot: (value) => {
          let length = 0;
          const path = value.path.slice(2);
          return {
            write: (_chunk, start, end) => {
              length += end - start;
              if (length > most) throw argumentTooLarge(path, limits.inlineArgument, Math.floor((length / 4) * 3));
            },
            end: () => {},
          };
        },
        held: (delta, message) => {
          this.#held += delta;
          refuseLong(this.#held, message, limits);
        },
        message: (message) => message.discard(),
      },
    });
  }

  /** @throws GatewayError `message_too_large`, `argument_too_large`, `too_deep`, `json_malformed` */
  take(chunk: Buffer): void {
    try {
      this.#reader.feed(chunk);
    } catch (error) {
      throw readingError(error, this.#maxDepth);
    }
  }
}

/**
 * Applies `limits.message` to what is held, but for the bytes of a string that may yet turn out to be long: where a message
 * is cut into chunks must not decide whether it is too large.
 * @param held all bytes reported as held
 * @throws GatewayError `message_too_large`
 */
export function refuseLong(
  held: number,
  { pendingBytes, noted }: Pick<HeldMessage, 'pendingBytes' | 'noted'>,
  { message: allowed }: Pick<Limits, 'message'>,
): void {
  const actual = countedBytes(held - pendingBytes - noted, noted);
  if (actual > allowed) throw new GatewayError('message_too_large', { limit: 'limits.message', allowed, actual });
}

/** The error of reading a body, for its sender. @param maxDepth `limits.depth` */
export function readingError(error: unknown, maxDepth: number): GatewayError {
  if (error instanceof GatewayError) return error;
  if (error instanceof WireError && error.code === 'depth') {
    return tooDeep(maxDepth, error);
  }
  const reason = error instanceof WireError ? error.message : 'it cannot be read';
  return new GatewayError('json_malformed', { reason }, error);
}

/** @param path below the arguments */
export function argumentTooLarge(path: JsonPath, allowed: number, actual: number): GatewayError {
  return new GatewayError('argument_too_large', {
    path: path.join('.'),
    limit: 'limits.inlineArgument',
    allowed,
    actual,
  });
}
