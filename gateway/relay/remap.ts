import { plainText } from '../wire/json/plain-text.js';
import { createReader, type HeldMessage, type WatchRange } from '../wire/json/reader.js';
import { compileWatchTree } from '../wire/json/watch-tree.js';
import { type Edit, inOrder, replaceRange } from './edits.js';
import { RANGE } from './slots.js';

const TREE = compileWatchTree({
  keys: {
    id: { watch: RANGE.id },
    params: {
      keys: { _meta: { keys: { progressToken: { capture: RANGE.progressToken, watch: RANGE.progressToken } } } },
    },
  },
});

/** How one client's request is called on a channel it shares with other clients. */
export interface Mapping {
  /** The client's own id, as JSON text. */
  id: string;
  /** The client's own progress token, as JSON text, if it gave one. */
  progressToken: string | undefined;
}

/**
 * A request under another id, which also becomes its progress token: on a shared process two clients may well use the
 * same ones. Every other byte is untouched.
 */
export function renameRequest(
  bytes: Buffer,
  id: string,
  maxDepth: number,
): { bytes: Buffer; progressToken: string | undefined } {
  let renamed: { bytes: Buffer; progressToken: string | undefined } | undefined;
  const reader = createReader('json', {
    tree: TREE,
    maxHeld: Number.POSITIVE_INFINITY,
    maxDepth,
    slotMin: Number.POSITIVE_INFINITY,
    handler: {
      slot: () => ({ write: () => {}, end: () => {} }),
      message: (message) => {
        const edits = message.ranges.map((range) => replaceRange(range, id));
        const pieces = message.render(inOrder(edits)) as Buffer[];
        renamed = { bytes: Buffer.concat(pieces), progressToken: message.captured(RANGE.progressToken) };
      },
    },
  });
  reader.feed(bytes);
  reader.end();
  return renamed ?? { bytes, progressToken: undefined };
}

/** The edits that give a message from the shared channel its client's own id, token and subscription id back. */
export function namesBack(message: HeldMessage, mappings: ReadonlyMap<string, Mapping>): Edit[] {
  const edits: Edit[] = [];
  for (const range of message.ranges) {
    const text = replacement(message, range, mappings);
    if (text !== undefined) edits.push(replaceRange(range, text));
  }
  return edits;
}

function replacement(
  message: HeldMessage,
  range: WatchRange,
  mappings: ReadonlyMap<string, Mapping>,
): string | undefined {
  const old = () => plainText(message.slice(range.start, range.end).toString('utf8'));
  switch (range.name) {
    case RANGE.id:
      return message.captured('method') === undefined ? mappings.get(old())?.id : undefined;
    case RANGE.progressToken:
      return mappings.get(old())?.progressToken;
    case RANGE.subscriptionId:
    case RANGE.requestId:
      return mappings.get(old())?.id;
    default:
      return undefined;
  }
}
