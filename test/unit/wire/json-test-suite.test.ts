import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { withoutMark } from '../../../gateway/wire/byte-order-mark.js';
import { chunked } from '../../helpers/chunked.js';
import { type Kind, readChunks, type Seen } from './record.js';

const FOLDER = join(import.meta.dirname, '../../../../test/corpus/json');
const files = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.json'))
  .map((name) => ({ name, bytes: readFileSync(join(FOLDER, name)) }));

/** Deep enough for the suite's deepest file, which has 100,000 arrays. */
const MAX_DEPTH = 200_000;
const SIZES = [Number.MAX_SAFE_INTEGER, 1, 7];

/** Every string below the root may be cut, every value in the root object is watched. */
const TREE = { deep: 'string', keys: { a: { watch: 'a' } } };

function seen(kind: Kind, bytes: Buffer): Seen[] {
  return SIZES.map((size) => {
    const result = readChunks(kind, TREE, chunked(bytes, size), { maxDepth: MAX_DEPTH, slotMin: 2 });
    return { ...result, events: [] };
  });
}

function framed(bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.from('data: '), bytes, Buffer.from('\n\n')]);
}

const startsLikeMessage = (bytes: Buffer) => /^\s*[{[]/.test(bytes.toString('latin1'));
const breaksLines = (bytes: Buffer) => bytes.includes(0x0a) || bytes.includes(0x0d);
const text = (bytes: Buffer) => bytes.toString('latin1');
const withoutSpaceAround = (json: string) => json.replaceAll(/^[ \t\r\n]+|[ \t\r\n]+$/g, '');
const fromFirstByte = (bytes: Buffer) => text(bytes).replace(/^[ \t]+/, '');
const trimmed = (bytes: Buffer) => withoutSpaceAround(text(bytes));

/** `{"a": true} "x"`: not a JSON text, but two of them, which a body may hold. */
const TWO_VALUES = 'n_structure_object_with_trailing_garbage.json';

/** The files that every parser must take, that every parser must refuse, and that each may take or refuse. */
const [valid, invalid, open] = ['y_', 'n_', 'i_'].map((kind) => files.filter(({ name }) => name.startsWith(kind))) as [
  typeof files,
  typeof files,
  typeof files,
];

describe('JSONTestSuite', () => {
  it('is complete', () => {
    expect(files).toHaveLength(318);
  });

  const whole = (messages: readonly { whole: string; malformed?: unknown }[]) =>
    messages.map(({ whole, malformed }) => [whole, malformed]);

  it.each(valid)('$name passes byte for byte as a body (G3)', ({ bytes }) => {
    for (const { messages, error } of seen('json', bytes)) {
      expect(error).toBeUndefined();
      expect(whole(messages)).toEqual([[trimmed(bytes), undefined]]);
    }
  });

  it.each(valid.filter(({ bytes }) => !breaksLines(bytes)))('$name passes byte for byte as an event', ({ bytes }) => {
    for (const { messages } of seen('sse', framed(bytes))) expect(whole(messages)).toEqual([[text(bytes), undefined]]);
  });

  // a bare scalar is no message
  it.each(valid.filter(({ bytes }) => !breaksLines(bytes) && startsLikeMessage(bytes)))(
    '$name passes as a line',
    ({ bytes }) => {
      for (const { messages } of seen('lines', bytes))
        expect(whole(messages)).toEqual([[fromFirstByte(bytes), undefined]]);
    },
  );

  it.each(invalid)('$name is malformed or cut short as a body, never lost or changed', ({ name, bytes }) => {
    for (const { messages, error } of seen('json', bytes)) {
      const hasFault = error !== undefined || messages.some(({ malformed }) => malformed !== undefined);
      expect(hasFault || messages.length === 0 || name === TWO_VALUES).toBe(true);
      if (error !== undefined) expect(error).toBe('truncated');
      else if (name !== TWO_VALUES) {
        expect(withoutSpaceAround(messages.map(({ whole }) => whole).join(''))).toBe(trimmed(withoutMark(bytes)));
      }
    }
  });

  it.each(invalid.filter(({ bytes }) => !breaksLines(bytes)))(
    '$name is malformed as an event, never lost or changed',
    ({ bytes }) => {
      for (const { messages, error } of seen('sse', framed(bytes))) {
        expect(error).toBeUndefined();
        expect(messages).toHaveLength(1);
        expect(messages[0]?.malformed !== undefined || messages[0]?.empty).toBe(true);
        expect(messages[0]?.whole).toBe(text(bytes));
      }
    },
  );

  it.each(open)('$name is taken or refused, the same in any chunks', ({ bytes }) => {
    for (const kind of ['json', 'sse', 'lines'] as const) {
      const [whole, ...others] = seen(kind, kind === 'sse' ? framed(bytes) : bytes);
      for (const other of others) expect(other).toEqual(whole);
    }
  });
});
