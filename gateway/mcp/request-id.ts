import { breathe } from '../budget/turn.js';
import type { Owner } from '../ports/owner.js';
import { firstInk, isBlank, onOneLine } from '../wire/blank.js';
import { createReader, type MessageReader } from '../wire/json/reader.js';
import { compileWatchTree } from '../wire/json/watch-tree.js';

const NEWLINE = Buffer.from('\n');
const OPEN_OBJECT = 0x7b;

/** Bytes of a message that are held at most: of a longer one only the captures are kept, so it may have any length. */
const HELD_BYTES = 64 * 1024;

/** Bytes of a long text that are read at a time. */
const STEP = 64 * 1024;

/** Of a method the range, because one that is a list has no text to capture. */
const TREE = compileWatchTree({ keys: { id: { capture: 'id' }, method: { watch: 'method' } } });

/** Of a text that breaks off, what an answer begins with. */
const BEGIN_BYTES = 256;
const ANSWER = /^\s*\{\s*(?:"(?:jsonrpc|id)"\s*:\s*(?:"[^"\\]*"|[\w.+-]+)\s*,\s*)*"(?:result|error)"\s*:/;

/**
 * Finds the id of a request that is not parsed. A message without a method is an answer, which is not answered itself: its
 * client may wait for an answer of that id. A text that breaks off may have its method behind that.
 */
export class IdFinder {
  /** As JSON text. */
  id: string | undefined;
  #begin = '';
  readonly #reader: MessageReader = createReader('lines', {
    tree: TREE,
    maxHeld: HELD_BYTES,
    handler: {
      limit: (_error, message) => message.discard(),
      message: (message) => {
        const isBroken = message.malformed !== undefined && !ANSWER.test(this.#begin);
        const isRequest = message.ranges.length > 0 || isBroken;
        if (isRequest) this.id = message.captured('id');
      },
    },
  });

  feed(bytes: Buffer): void {
    const left = BEGIN_BYTES - this.#begin.length;
    if (left > 0) this.#begin += bytes.toString('latin1', 0, left);
    this.#reader.feed(bytes);
  }

  /** Ends the input. */
  end(): void {
    this.#reader.feed(NEWLINE);
  }
}

/**
 * The id of a request in a text that is not parsed, if it can be read; a batch has none of its own.
 * @param pieces of the text, which may break off
 */
export function idIn(pieces: readonly Buffer[]): string | undefined {
  if (!beginsObject(pieces)) return undefined;
  const finder = new IdFinder();
  // JSON's line breaks are between tokens, but would end the line for the finder
  for (const piece of pieces) finder.feed(onOneLine(piece));
  finder.end();
  return finder.id;
}

/** What `idIn` finds, in a long text that is read in steps: other work goes on meanwhile. */
export async function idInLong(pieces: readonly Buffer[], owner: Owner): Promise<string | undefined> {
  if (!beginsObject(pieces)) return undefined;
  const finder = new IdFinder();
  for (const piece of pieces) {
    for (let at = 0; at < piece.length; at += STEP) {
      await breathe(owner);
      finder.feed(onOneLine(piece.subarray(at, at + STEP)));
    }
  }
  finder.end();
  return finder.id;
}

function beginsObject(pieces: readonly Buffer[]): boolean {
  const begins = pieces.find((piece) => !isBlank(piece));
  return begins !== undefined && firstInk(begins) === OPEN_OBJECT;
}
