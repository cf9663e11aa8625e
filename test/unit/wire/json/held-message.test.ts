import { describe, expect, it } from '@jest/globals';
import { createReader, type HeldMessage, type SlotValue } from '../../../../gateway/wire/json/reader.js';
import { compileWatchTree } from '../../../../gateway/wire/json/watch-tree.js';
import { chunked } from '../../../helpers/chunked.js';

const JSON_TEXT = '{"a":"AAAAAAAAAA","b":[1,2,3],"c":"CCCCCCCCCC","d":4}';
const SKELETON = '{"a":"","b":[1,2,3],"c":"","d":4}';

function hold(size: number): HeldMessage {
  let held: HeldMessage | undefined;
  const reader = createReader('json', {
    tree: compileWatchTree({ keys: { a: { slot: 'a' }, b: { watch: 'b' }, c: { slot: 'c' }, d: { watch: 'd' } } }),
    maxHeld: 10_000,
    maxDepth: 10,
    slotMin: 5,
    handler: {
      slot: (value) => {
        value.attachment = value.slot.toUpperCase();
        return { write: () => {}, end: () => {} };
      },
      message: (message) => {
        held = message;
      },
    },
  });
  for (const chunk of chunked(Buffer.from(JSON_TEXT), size)) reader.feed(chunk);
  reader.end();
  return held as HeldMessage;
}

/** Rendered, with each slot shown by what is attached to it. */
function rendered(message: HeldMessage, edits: [number, number, string][] = []): string {
  const isSlot = (part: Buffer | SlotValue): part is SlotValue => !Buffer.isBuffer(part);
  return message
    .render(edits.map(([start, end, text]) => ({ start, end, bytes: Buffer.from(text) })))
    .map((part) => (isSlot(part) ? `<${part.attachment}>` : part.toString()))
    .join('');
}

const SIZES = [1, 3, 7, 1000];

describe.each(SIZES)('a held message (chunks of %i)', (size) => {
  it('is JSON without what was cut', () => {
    expect(hold(size).skeleton().toString()).toBe(SKELETON);
    expect(hold(size).size).toBe(SKELETON.length);
  });

  it('gives any part of itself', () => {
    const message = hold(size);
    for (let start = 0; start <= SKELETON.length; start += 3) {
      for (let end = start; end <= SKELETON.length; end += 4) {
        expect(message.slice(start, end).toString()).toBe(SKELETON.slice(start, end));
      }
    }
  });

  it('renders its slots where they stood', () => {
    expect(rendered(hold(size))).toBe('{"a":"<A>","b":[1,2,3],"c":"<C>","d":4}');
  });

  it('renders edits in the place of ranges', () => {
    const message = hold(size);
    const [b, d] = message.ranges;
    expect(
      rendered(message, [
        [b?.start ?? 0, b?.end ?? 0, '"B"'],
        [d?.start ?? 0, d?.end ?? 0, ''],
      ]),
    ).toBe('{"a":"<A>","b":"B","c":"<C>","d":}');
  });

  it('leaves a slot out when the range around it is replaced', () => {
    const message = hold(size);
    const { offset } = message.slots[1] as SlotValue;
    expect(rendered(message, [[offset - 1, offset + 1, 'null']])).toBe('{"a":"<A>","b":[1,2,3],"c":null,"d":4}');
    expect(rendered(message, [[offset, offset, 'new']])).toBe('{"a":"<A>","b":[1,2,3],"c":"new","d":4}');
    expect(rendered(message, [[0, message.size, 'x']])).toBe('x');
    expect(rendered(message, [[0, offset - 1, '[']])).toBe('["<C>","d":4}');
  });

  it('inserts where an edit has no width', () => {
    expect(
      rendered(hold(size), [
        [1, 1, '"z":0,'],
        [SKELETON.length, SKELETON.length, '!'],
      ]),
    ).toBe('{"z":0,"a":"<A>","b":[1,2,3],"c":"<C>","d":4}!');
  });

  it('refuses edits out of order, overlapping, or outside', () => {
    const message = hold(size);
    for (const edits of [
      [
        [5, 6, ''],
        [1, 2, ''],
      ],
      [
        [1, 5, ''],
        [4, 6, ''],
      ],
      [[0, 999, '']],
      [[3, 2, '']],
    ] as [number, number, string][][]) {
      expect(() => rendered(message, edits)).toThrow(RangeError);
    }
  });
});

describe('memory', () => {
  /** The message in these chunks, from which nothing is cut. */
  function heldOf(chunks: Iterable<Buffer>): HeldMessage | undefined {
    let held: HeldMessage | undefined;
    const reader = createReader('json', {
      tree: compileWatchTree({}),
      maxHeld: 1_000_000,
      maxDepth: 10,
      slotMin: 0,
      handler: {
        slot: () => ({ write: () => {}, end: () => {} }),
        message: (message) => {
          held = message;
        },
      },
    });
    for (const chunk of chunks) reader.feed(chunk);
    reader.end();
    return held;
  }

  it('of a chunk is let go when little of it is held', () => {
    const chunk = Buffer.allocUnsafeSlow(64 * 1024).fill(' ');
    chunk.write('{"a":1}', 100);
    const slice = heldOf([chunk])?.skeleton();
    expect(slice?.toString()).toBe('{"a":1}');
    expect(slice?.buffer.byteLength).toBeLessThan(1024);
  });

  it('of a chunk that is held for the most part is not copied', () => {
    const chunk = Buffer.allocUnsafeSlow(64 * 1024).fill(' ');
    chunk.write('{', 0);
    chunk.write('}', chunk.length - 1);
    const slice = heldOf([chunk])?.skeleton();
    expect(slice?.buffer).toBe(chunk.buffer);
  });

  it('fed byte by byte is held in few pieces', () => {
    const message = heldOf(chunked(Buffer.from(`"${'x'.repeat(200_000)}"`), 1));
    expect(message?.render([]).length).toBeLessThan(16);
  });
});
