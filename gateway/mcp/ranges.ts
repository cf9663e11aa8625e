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
  inputRequests: 'inputRequests',
  status: 'status',
  statusMessage: 'statusMessage',
  progressToken: 'progressToken',
  subscriptionId: 'subscriptionId',
  requestId: 'requestId',
  taskId: 'taskId',
} as const;

/**
 * Most ranges that are searched one by one. Most messages have three or four, and their index costs more than the search:
 * a short call over stdio took 3 of its 100 µs for it.
 */
const FEW = 16;

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
  const range = firstAt(message, path);
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
      const range = firstAt(message, path);
      return range ?? (isOnTheWay(message, path) ? { start: 0, end: 0 } : undefined);
    },
  };
}

function firstAt(message: HeldMessage, path: JsonPath): WatchRange | undefined {
  if (message.ranges.length > FEW) return indexOf(message).ranges.get(JSON.stringify(path));
  return message.ranges.find((range) => isLookedUp(range) && range.path.length === path.length && leads(path, range));
}

function isOnTheWay(message: HeldMessage, path: JsonPath): boolean {
  if (message.ranges.length > FEW) return indexOf(message).ways.has(JSON.stringify(path));
  return message.ranges.some((range) => isLookedUp(range) && range.path.length > path.length && leads(path, range));
}

function leads(path: JsonPath, { path: to }: WatchRange): boolean {
  for (let at = 0; at < path.length; at++) if (path[at] !== to[at]) return false;
  return true;
}

/** There are many of these, and they are never looked up. */
function isLookedUp({ name }: WatchRange): boolean {
  return name !== RANGE.tool && name !== RANGE.holder;
}

/** A batch looks up each of its messages, and may have tens of thousands of ranges, so they are indexed once. */
function indexOf(message: HeldMessage): Index {
  const known = INDEXES.get(message);
  if (known?.count === message.ranges.length) return known;
  const index: Index = { count: message.ranges.length, ranges: new Map(), ways: new Set() };
  for (const range of message.ranges) {
    if (!isLookedUp(range)) continue;
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
