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

describe('JSONTestSuite', () => {
  it('is complete', () => {
    expect(files).toHaveLength(318);
  });

  describe.each(files.filter(({ name }) => name.startsWith('y_')))('$name', ({ bytes }) => {
    it('passes byte for byte as a body (G3)', () => {
      for (const { messages, error } of seen('json', bytes)) {
        expect(error).toBeUndefined();
        expect(messages.map(({ whole, malformed }) => [whole, malformed])).toEqual([[trimmed(bytes), undefined]]);
      }
    });

    it('passes byte for byte as an event, unless it breaks lines', () => {
      for (const { messages } of breaksLines(bytes) ? [] : seen('sse', framed(bytes))) {
        expect(messages.map(({ whole, malformed }) => [whole, malformed])).toEqual([[text(bytes), undefined]]);
      }
    });

    it('passes as a line, unless it breaks lines or is a bare scalar', () => {
      for (const { messages } of breaksLines(bytes) || !startsLikeMessage(bytes) ? [] : seen('lines', bytes)) {
        expect(messages.map(({ whole, malformed }) => [whole, malformed])).toEqual([[fromFirstByte(bytes), undefined]]);
      }
    });
  });

  describe.each(files.filter(({ name }) => name.startsWith('n_')))('$name', ({ name, bytes }) => {
    it('is malformed or cut short as a body, never lost or changed', () => {
      for (const { messages, error } of seen('json', bytes)) {
        const hasFault = error !== undefined || messages.some(({ malformed }) => malformed !== undefined);
        expect(hasFault || messages.length === 0 || name === TWO_VALUES).toBe(true);
        if (error !== undefined) expect(error).toBe('truncated');
        else if (name !== TWO_VALUES) {
          expect(withoutSpaceAround(messages.map(({ whole }) => whole).join(''))).toBe(trimmed(withoutMark(bytes)));
        }
      }
    });

    it('is malformed as an event, never lost or changed', () => {
      for (const { messages, error } of breaksLines(bytes) ? [] : seen('sse', framed(bytes))) {
        expect(error).toBeUndefined();
        expect(messages).toHaveLength(1);
        expect(messages[0]?.malformed !== undefined || messages[0]?.empty).toBe(true);
        expect(messages[0]?.whole).toBe(text(bytes));
      }
    });
  });

  it.each(files.filter(({ name }) => name.startsWith('i_')))(
    '$name is taken or refused, the same in any chunks',
    ({ bytes }) => {
      for (const kind of ['json', 'sse', 'lines'] as const) {
        const [whole, ...others] = seen(kind, kind === 'sse' ? framed(bytes) : bytes);
        for (const other of others) expect(other).toEqual(whole);
      }
    },
  );
});
