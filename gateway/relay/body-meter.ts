import { GatewayError } from '../errors.js';
import type { Limits } from '../policy/limits.js';
import { WireError } from '../wire/errors.js';
import { createReader, type MessageReader } from '../wire/json/reader.js';
import { compileWatchTree } from '../wire/json/watch-tree.js';

/** Any string of a call's arguments may be a file. */
const TREE = compileWatchTree({ keys: { params: { keys: { arguments: { deep: 'argument' } } } } });

/** Shorter strings are counted as part of the message: a file that small needs no allowance. */
const LONG_STRING = 64 * 1024;

/** Base64 as data: URI, with a name and a few escapes. */
const SPELLING_ALLOWANCE = 16 * 1024;

/**
 * Tells message and files of a client's body apart while it arrives: `limits.message` holds for what is no file, and
 * `limits.inlineArgument` for each string that may be one, so that neither has to be read to its end to be refused.
 */
export class BodyMeter {
  readonly #reader: MessageReader;
  readonly #maxDepth: number;
  #held = 0;

  constructor(limits: Limits) {
    this.#maxDepth = limits.depth;
    const most = Math.ceil(limits.inlineArgument / 3) * 4 + SPELLING_ALLOWANCE;
    this.#reader = createReader('json', {
      tree: TREE,
      maxHeld: Number.POSITIVE_INFINITY,
      maxDepth: limits.depth,
      slotMin: LONG_STRING,
      handler: {
        slot: (value) => {
          let length = 0;
          const path = value.path.slice(2).join('.');
          return {
            write: (_chunk, start, end) => {
              length += end - start;
              if (length > most) throw tooLong(path, limits.inlineArgument, Math.floor((length / 4) * 3));
            },
            end: () => {},
          };
        },
        held: (delta) => {
          this.#held += delta;
          if (this.#held > limits.message) {
            const facts = { limit: 'limits.message', allowed: limits.message, actual: this.#held };
            throw new GatewayError('message_too_large', facts);
          }
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
      if (error instanceof GatewayError) throw error;
      if (error instanceof WireError && error.code === 'depth') {
        throw new GatewayError('too_deep', { limit: 'limits.depth', allowed: this.#maxDepth }, error);
      }
      throw new GatewayError(
        'json_malformed',
        { reason: error instanceof WireError ? error.message : 'it cannot be read' },
        error,
      );
    }
  }
}

function tooLong(path: string, allowed: number, actual: number): GatewayError {
  return new GatewayError('argument_too_large', { path, limit: 'limits.inlineArgument', allowed, actual });
}
