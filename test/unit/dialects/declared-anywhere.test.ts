import { describe, expect, it } from '@jest/globals';
import { adapters } from '../../../adapters/index.js';
import type { JsonObject } from '../../../gateway/ports/dialect.js';

const TEXT = { type: 'string', format: 'uri' };

/** A schema that each dialect takes for a file argument. */
const DECLARED: Readonly<Record<string, JsonObject>> = {
  'mcp-inline': { type: 'string', contentEncoding: 'base64' },
  'sep-2356': { ...TEXT, 'x-mcp-file': {} },
  'sep-2631': { ...TEXT, 'x-mcp-file': { transferModes: ['upload'] } },
};

/** What may stand around a file, and the path of it. */
const AROUND: readonly (readonly [string, (file: JsonObject) => JsonObject, string[]])[] = [
  ['a property', (file) => ({ properties: { file } }), ['file']],
  [
    'what has a name of its own',
    (file) => ({ properties: { file: { $ref: '#f' } }, $defs: { f: { $anchor: 'f', ...file } } }),
    ['file'],
  ],
  [
    'what is named by the address of the whole',
    (file) => ({ $id: 'x:y', properties: { file: { $ref: 'x:y#/$defs/f' } }, $defs: { f: file } }),
    ['file'],
  ],
  [
    'a property of an item',
    (file) => ({ properties: { pages: { items: { properties: { file } } } } }),
    ['pages', '[]', 'file'],
  ],
  ['a map', (file) => ({ properties: { files: { additionalProperties: file } } }), ['files', '{}']],
  [
    'a property of a map’s members',
    (file) => ({ properties: { pages: { properties: {}, additionalProperties: { properties: { file } } } } }),
    ['pages', '{}', 'file'],
  ],
  [
    'the members that have no names of their own',
    (file) => ({ properties: { a: { properties: { note: TEXT }, additionalProperties: file } } }),
    ['a', '{}{"but":["note"]}'],
  ],
  [
    'the members that fit no pattern',
    (file) => ({ properties: { a: { patternProperties: { '^x': TEXT }, additionalProperties: file } } }),
    ['a', '{}{"unlike":["^x"]}'],
  ],
  [
    'the members that fit a pattern',
    (file) => ({ properties: { a: { patternProperties: { '^x': file } } } }),
    ['a', '{}{"like":"^x"}'],
  ],
  ['all arguments', (file) => ({ additionalProperties: file }), ['{}']],
  ['an item of a tuple', (file) => ({ properties: { a: { prefixItems: [TEXT, file] } } }), ['a', '[]1']],
  ['an item of an old tuple', (file) => ({ properties: { a: { items: [file, TEXT] } } }), ['a', '[]0']],
  ['a union', (file) => ({ properties: { file: { anyOf: [{ type: 'null' }, file] } } }), ['file']],
  ['another union', (file) => ({ properties: { file: { oneOf: [file] } } }), ['file']],
  ['a reference', (file) => ({ properties: { file: { $ref: '#/$defs/a~1b' } }, $defs: { 'a/b': file } }), ['file']],
  [
    'a reference with a description',
    (file) => ({ properties: { file: { description: 'a file', allOf: [{ $ref: '#/$defs/f' }] } }, $defs: { f: file } }),
    ['file'],
  ],
];

/** Each branch leads back to the union: ways without end. */
const BOMB = {
  properties: { a: { $ref: '#/$defs/u' } },
  $defs: { u: { anyOf: Array.from({ length: 10 }, () => ({ properties: { a: { $ref: '#/$defs/u' } } })) } },
};

/** As Pydantic writes its `Base64Bytes`. */
const OF_PYDANTIC: JsonObject = { type: 'string', format: 'base64' };

describe.each([...Object.entries(DECLARED), ['mcp-inline', OF_PYDANTIC] as const])(
  'a file that a schema declares in the words of %s, %j',
  (name, file) => {
    const dialect = adapters.dialects.find((one) => one.name === name);
    const pathsIn = (inputSchema: JsonObject) =>
      (dialect?.slotsOf?.({ name: 't', inputSchema }) ?? []).map(({ path }) => path);

    it.each(AROUND)('is found in %s', (_where, around, path) => {
      expect(pathsIn({ type: 'object', ...around(file) })).toEqual([path]);
    });

    it.each<[string, JsonObject]>([
      ['as a member with the name of a segment', { properties: { a: { properties: { '{}': file } } } }],
      ['as a member with the name of an item', { properties: { a: { properties: { '[]0': file } } } }],
      [
        'beside more names than are worth keeping',
        { properties: { a: { properties: { ['n'.repeat(5000)]: TEXT }, additionalProperties: file } } },
      ],
    ])('is not looked for %s', (_where, schema) => {
      expect(pathsIn({ type: 'object', ...schema })).toEqual([]);
    });

    it('is looked for no longer than a tool is worth', () => {
      expect(pathsIn({ type: 'object', ...BOMB })).toEqual([]);
    });
  },
);

describe('a format that also stands for other things than files', () => {
  const dialect = adapters.dialects.find(({ name }) => name === 'mcp-inline');

  it.each(['byte', 'binary', 'base64url'])('declares none: %s', (format) => {
    const inputSchema = { type: 'object', properties: { key: { type: 'string', format } } };
    expect(dialect?.slotsOf?.({ name: 't', inputSchema })).toEqual([]);
  });
});
