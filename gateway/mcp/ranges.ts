import type { HeldMessage, WatchRange } from '../wire/json/reader.js';

/** Names of the ranges that a reader is asked to note in a server's message. */
export const RANGE = {
  id: 'id',
  result: 'result',
  holder: 'holder',
  meta: 'meta',
  structuredContent: 'structuredContentRange',
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

/** The ranges of a message by their names and paths, and how many there were when they were noted. */
const INDEXES = new WeakMap<HeldMessage, { count: number; ranges: Map<string, WatchRange> }>();

/** The first range called `name` whose path is `path`. */
export function rangeAt(
  message: HeldMessage,
  name: string,
  path: readonly (string | number)[],
): WatchRange | undefined {
  return indexOf(message).get(keyOf(name, path));
}

/** A batch asks for each of its messages, and may have tens of thousands of ranges: they are gone through once. */
function indexOf(message: HeldMessage): Map<string, WatchRange> {
  const known = INDEXES.get(message);
  if (known?.count === message.ranges.length) return known.ranges;
  const ranges = new Map<string, WatchRange>();
  for (const range of message.ranges) {
    // nobody asks for one of many
    if (range.name === RANGE.tool || range.name === RANGE.holder) continue;
    const key = keyOf(range.name, range.path);
    if (!ranges.has(key)) ranges.set(key, range);
  }
  INDEXES.set(message, { count: message.ranges.length, ranges });
  return ranges;
}

function keyOf(name: string, path: readonly (string | number)[]): string {
  return JSON.stringify([name, ...path]);
}
