import { RANGE } from '../mcp/ranges.js';
import { answersIn } from '../mcp/responses.js';
import { createReader, type MessageReader } from '../wire/json/reader.js';
import { compileWatchTree } from '../wire/json/watch-tree.js';

const TREE = compileWatchTree({
  keys: {
    id: { capture: 'id' },
    method: { capture: 'method' },
    result: { watch: RANGE.result, keys: { protocolVersion: { capture: 'version' } } },
    error: { watch: RANGE.error },
  },
});

/** Longer messages are looked at without being held. */
const HELD_BYTES = 64 * 1024;

/**
 * Sees which requests the lines of an answer belong to.
 * @param seen called with the id as JSON text, and with `result.protocolVersion`, which only an `initialize` has
 */
export function watchAnswers(seen: (id: string, version: string | undefined) => void): MessageReader {
  return createReader('lines', {
    tree: TREE,
    maxHeld: HELD_BYTES,
    maxDepth: Number.POSITIVE_INFINITY,
    slotMin: Number.POSITIVE_INFINITY,
    handler: {
      slot: () => ({ write: () => {}, end: () => {} }),
      limit: (_error, message) => message.discard(),
      message: (message) => {
        if (message.malformed) return;
        const version: unknown = JSON.parse(message.captured('version') ?? 'null');
        for (const { id } of answersIn(message)) seen(id, typeof version === 'string' ? version : undefined);
      },
    },
  });
}
