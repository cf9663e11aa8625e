import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { JsonDocument } from '../../gateway/json/document.js';
import type { JsonPath } from '../../gateway/ports/json.js';
import { runs } from '../helpers/effort.js';

/** As written: some are the same key in other letters, or in bytes that are not UTF-8. */
const key = fc.constantFrom('a', 'b', '\\u0061', 'ab', '\\"', '\\\\', 'ü', '\\u00fc', '__proto__', 'a~/b', '\xff', '');
const blank = fc.constantFrom('', '', ' ', '\n\t');
const leaf = fc.constantFrom(
  '1',
  '-0.5e3',
  '"x"',
  '"}]"',
  '"\\""',
  '"\\\\"',
  'null',
  'true',
  '{}',
  '[]',
  '[ ]',
  '{\n}',
);
const { object } = fc.letrec<{ value: string; object: string }>((tie) => {
  const list = fc.array(tie('value'), { maxLength: 3 });
  const member = fc.tuple(blank, key, blank, blank, tie('value'), blank);
  const members = fc.array(member, { maxLength: 4 });
  return {
    value: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      leaf,
      tie('object'),
      fc.tuple(list, blank).map(([items, space]) => `[${space}${items.join(`${space},${space}`)}${space}]`),
    ),
    object: members.map((all) => `{${all.map(([a, k, b, c, v, d]) => `${a}"${k}"${b}:${c}${v}${d}`).join(',')}}`),
  };
});
const step = fc.oneof(fc.constantFrom('a', 'b', 'ab', '"', '\\', 'ü', '__proto__', 'a~/b', '\ufffd', ''), fc.nat(2));
const path = fc.array(step, { maxLength: 4 });

/** The bytes of a text whose characters above ASCII are UTF-8, but for one that is not. */
function bytesOf(text: string): Buffer {
  return Buffer.concat([...text].map((char) => (char === '\xff' ? Buffer.from([0xff]) : Buffer.from(char))));
}

function placesIn(bytes: Buffer, paths: readonly JsonPath[]) {
  const document = JsonDocument.of(bytes).find(paths);
  const places = paths.map((one) => {
    const found = document.at(one);
    return found && [found.start, found.end];
  });
  return { places, duplicates: document.duplicates.map((one) => ({ ...one })) };
}

describe('the places of values in a short text', () => {
  it('are those in a long one that begins like it', () => {
    const behind = Buffer.alloc(20_000, ' ');
    fc.assert(
      fc.property(blank, object, fc.array(path, { maxLength: 5 }), (before, text, paths) => {
        const bytes = bytesOf(before + text);
        expect(placesIn(bytes, paths)).toEqual(placesIn(Buffer.concat([bytes, behind]), paths));
      }),
      { numRuns: runs(3000) },
    );
  });

  it('are those of whole values, with keys that are named twice on the way', () => {
    const bytes = Buffer.from(' {"b":["}"],"a":[{"b":1,"\\u0062" : "x\\""}, {"b":{}}] ,"c":1,"c":2}');
    const { places, duplicates } = placesIn(bytes, [['a', 0, 'b'], ['a', 1, 'b'], ['a', 2, 'b'], ['a'], []]);
    const texts = places.map((found) => found && bytes.toString('utf8', ...found));
    const list = '[{"b":1,"\\u0062" : "x\\""}, {"b":{}}]';
    expect(texts).toEqual(['1', '{}', undefined, list, bytes.toString('utf8', 1)]);
    expect(duplicates).toEqual([{ path: '/a/0', key: 'b' }]);
  });
});
