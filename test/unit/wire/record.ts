import { expect } from '@jest/globals';
import { WireError } from '../../../gateway/wire/errors.js';
import {
  createReader,
  type HeldMessage,
  type MessageHandler,
  type ReaderOptions,
  type SlotValue,
} from '../../../gateway/wire/json/reader.js';
import { compileWatchTree, type WatchNode, type WatchTree } from '../../../gateway/wire/json/watch-tree.js';
import { chunkings } from '../../helpers/chunked.js';

export type Kind = 'json' | 'sse' | 'lines';

interface RecordOptions extends Partial<Omit<ReaderOptions, 'tree' | 'handler'>> {
  handler?: Partial<MessageHandler>;
}

interface SeenMessage {
  skeleton: string;
  slots: { slot: string; path: string; offset: number; text: string; ended: boolean }[];
  ranges: { name: string; path: string; text: string }[];
  captures: Record<string, string>;
  duplicates: string[];
  malformed: number | undefined;
  frame: Record<string, string | boolean> | undefined;
  empty: boolean;
  /** The message with nothing edited and every slot put back. */
  whole: string;
}

export interface Seen {
  /** What was reported, in order: `message`, `closed NAME`, `space …`, `comment …`, `noise …`, `slot NAME`. */
  events: string[];
  messages: SeenMessage[];
  /** Code of the WireError that ended it. */
  error: string | undefined;
  inMessage: boolean;
}

/** Trees as readers have them, which no reader changes: some suites read a message of one tree thousands of times. */
const trees = new WeakMap<WatchNode, WatchTree>();

function compiled(tree: WatchNode): WatchTree {
  const known = trees.get(tree) ?? compileWatchTree(tree);
  trees.set(tree, known);
  return known;
}

/** The reader's world for one chunking. Bytes are shown as latin1, so that none is lost. */
export function readChunks(kind: Kind, tree: WatchNode, chunks: readonly Buffer[], options: RecordOptions = {}): Seen {
  const seen: Seen = { events: [], messages: [], error: undefined, inMessage: false };
  const slots = new Map<SlotValue, { text: string; ended: boolean }>();
  const say = (name: string, text: string) => {
    const last = seen.events.length - 1;
    // how whitespace is cut up is the chunking's business
    if (name === 'space' && seen.events[last]?.startsWith('space ')) seen.events[last] += text;
    else seen.events.push(`${name} ${text}`);
  };
  const reader = createReader(kind, {
    tree: compiled(tree),
    maxHeld: options.maxHeld ?? Number.POSITIVE_INFINITY,
    maxDepth: options.maxDepth ?? 1000,
    slotMin: options.slotMin ?? 8,
    handler: {
      slot: (value) => {
        const slot = { text: '', ended: false };
        slots.set(value, slot);
        say('slot', value.slot);
        return {
          write: (chunk, start, end) => {
            slot.text += chunk.toString('latin1', start, end);
          },
          end: () => {
            slot.ended = true;
          },
        };
      },
      closed: (range, message) => {
        say('closed', `${range.name} ${message.slice(range.start, range.end).toString('latin1')}`);
      },
      message: (message) => {
        seen.events.push('message');
        seen.messages.push(describe(message, slots));
      },
      space: (bytes) => say('space', bytes.toString('latin1')),
      comment: (bytes) => say('comment', bytes.toString('latin1')),
      noise: (line) => say('noise', line.toString('latin1')),
      ...options.handler,
    },
  });
  try {
    for (const chunk of chunks) reader.feed(chunk);
    reader.end();
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    seen.error = error.code;
  }
  seen.inMessage = reader.inMessage;
  return seen;
}

/** Reads the input in every chunking, sees that they do not differ, and gives what all of them saw. */
export function read(kind: Kind, tree: WatchNode, input: string | Buffer, options: RecordOptions = {}): Seen {
  const bytes = Buffer.isBuffer(input) ? input : Buffer.from(input);
  let first: Seen | undefined;
  for (const { name, chunks } of chunkings(bytes)) {
    const seen = readChunks(kind, tree, chunks, options);
    if (!first) first = seen;
    else if (JSON.stringify(seen) !== JSON.stringify(first)) expect({ name, seen }).toEqual({ name, seen: first });
  }
  return first as Seen;
}

/** The only message of an input that has one, in every chunking. */
export function readOne(kind: Kind, tree: WatchNode, input: string | Buffer, options: RecordOptions = {}): SeenMessage {
  const { messages, error } = read(kind, tree, input, options);
  expect({ error, messages: messages.length }).toEqual({ error: undefined, messages: 1 });
  return messages[0] as SeenMessage;
}

function describe(message: HeldMessage, slots: Map<SlotValue, { text: string; ended: boolean }>): SeenMessage {
  const text = (bytes: Buffer) => bytes.toString('latin1');
  return {
    skeleton: text(message.skeleton()),
    slots: message.slots.map((value) => {
      const { text: content, ended } = slots.get(value) ?? { text: '', ended: false };
      expect(value.length).toBe(content.length);
      expect(value.complete).toBe(ended);
      return { slot: value.slot, path: value.path.join('/'), offset: value.offset, text: content, ended };
    }),
    ranges: message.ranges.map(({ name, path, start, end }) => ({
      name,
      path: path.join('/'),
      text: text(message.slice(start, end)),
    })),
    captures: Object.fromEntries(message.captures.map((capture) => [capture.name, capture.text])),
    duplicates: message.duplicates.map(({ path, key }) => `${path} ${key}`),
    malformed: message.malformed?.offset,
    frame:
      message.frame &&
      Object.fromEntries(
        Object.entries(message.frame).map(([name, value]) => [name, Buffer.isBuffer(value) ? text(value) : value]),
      ),
    empty: message.empty,
    whole: message
      .render([])
      .map((part) => (Buffer.isBuffer(part) ? text(part) : (slots.get(part)?.text ?? '')))
      .join(''),
  };
}
