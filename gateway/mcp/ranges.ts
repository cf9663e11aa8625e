import type { Places } from '../json/edit.js';
import type { JsonPath } from '../ports/json.js';
import type { HeldMessage, WatchRange } from '../wire/json/reader.js';

/** Names of the ranges that a reader records in a server's message. */
export const RANGE = {
  id: 'id',
  result: 'result',
  resultType: 'resultType',
  holder: 'holder',
  meta: 'meta',
  structuredContent: 'structuredContentRange',
  isError: 'isError',
  cacheScope: 'cacheScope',
  ttlMs: 'ttlMs',
  capabilities: 'capabilities',
  error: 'error',
  tools: 'tools',
  tool: 'tool',
  nextCursor: 'nextCursor',
  content: 'content',
  contents: 'contents',
  messages: 'messages',
  progressToken: 'progressToken',
  subscriptionId: 'subscriptionId',
  requestId: 'requestId',
} as const;

interface Index {
  /** Of the message when it was indexed. */
  count: number;
  ranges: Map<string, WatchRange>;
  /** Paths on the way to a range. */
  ways: Set<string>;
}

/** The ranges of messages, by their paths. */
const INDEXES = new WeakMap<HeldMessage, Index>();

/** The first range whose path is `path`, if it is called `name`. */
export function rangeAt(message: HeldMessage, name: string, path: JsonPath): WatchRange | undefined {
  const range = indexOf(message).ranges.get(JSON.stringify(path));
  return range?.name === name ? range : undefined;
}

/**
 * The places of a message that its reader was asked to note. What is only on the way to one of them has no width: nothing
 * is known of it but that it exists.
 */
export function placesOf(message: HeldMessage): Places {
  return {
    size: message.size,
    slice: (start, end) => message.slice(start, end),
    at: (path) => {
      const key = JSON.stringify(path);
      const { ranges, ways } = indexOf(message);
      return ranges.get(key) ?? (ways.has(key) ? { start: 0, end: 0 } : undefined);
    },
  };
}

/** A batch looks up each of its messages, and may have tens of thousands of ranges, so they are indexed once. */
function indexOf(message: HeldMessage): Index {
  const known = INDEXES.get(message);
  if (known?.count === message.ranges.length) return known;
  const index: Index = { count: message.ranges.length, ranges: new Map(), ways: new Set() };
  for (const range of message.ranges) {
    // there are many of these, and they are never looked up
    if (range.name === RANGE.tool || range.name === RANGE.holder) continue;
    const key = JSON.stringify(range.path);
    if (!index.ranges.has(key)) index.ranges.set(key, range);
    for (let length = range.path.length - 1; length >= 0; length--) {
      const way = JSON.stringify(range.path.slice(0, length));
      if (index.ways.has(way)) break;
      index.ways.add(way);
    }
  }
  INDEXES.set(message, index);
  return index;
}
