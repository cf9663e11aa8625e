import { firstInk, isBlank, onOneLine } from '../wire/blank.js';
import { createReader, type MessageReader } from '../wire/json/reader.js';
import { compileWatchTree } from '../wire/json/watch-tree.js';

const NEWLINE = Buffer.from('\n');
const OPEN_OBJECT = 0x7b;

/** An id is looked for in messages of any length, without holding them. */
const HELD_BYTES = 64 * 1024;

const TREE = compileWatchTree({ keys: { id: { capture: 'id' }, method: { capture: 'method' } } });

/** Finds the id of a request that is not to be parsed; what has no method is an answer, and nobody waits for one to it. */
export class IdFinder {
  /** As JSON text. */
  id: string | undefined;
  readonly #reader: MessageReader = createReader('lines', {
    tree: TREE,
    maxHeld: HELD_BYTES,
    maxDepth: Number.POSITIVE_INFINITY,
    slotMin: Number.POSITIVE_INFINITY,
    handler: {
      slot: () => ({ write: () => {}, end: () => {} }),
      limit: (_error, message) => message.discard(),
      message: (message) => {
        const isRequest = message.captured('method') !== undefined || message.malformed !== undefined;
        if (isRequest) this.id = message.captured('id');
      },
    },
  });

  feed(bytes: Buffer): void {
    this.#reader.feed(bytes);
  }

  /** No more comes. */
  end(): void {
    this.#reader.feed(NEWLINE);
  }
}

/**
 * The id of the request in a text that is not to be parsed, as far as it can be read; a batch has none of its own.
 * @param pieces of the text, which may break off
 */
export function idIn(pieces: readonly Buffer[]): string | undefined {
  const begins = pieces.find((piece) => !isBlank(piece));
  if (!begins || firstInk(begins) !== OPEN_OBJECT) return undefined;
  const finder = new IdFinder();
  // line breaks of JSON stand between tokens: to the finder one would be the end
  for (const piece of pieces) finder.feed(onOneLine(piece));
  finder.end();
  return finder.id;
}
