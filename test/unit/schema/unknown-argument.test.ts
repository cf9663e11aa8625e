import { describe, expect, it } from '@jest/globals';
import type { FileArgument } from '../../../gateway/ports/file-slot.js';
import type { JsonObject } from '../../../gateway/ports/json.js';
import { unknownArguments } from '../../../gateway/schema/unknown-argument.js';

const text = { type: 'string' };
const page = { type: 'object', properties: { data: text, n: { type: 'integer' } } };
const properties: JsonObject = {
  image: text,
  pages: { type: 'array', items: { $ref: '#/$defs/page' } },
  maybe: { anyOf: [text, { type: 'null' }, page] },
  free: { type: 'object' },
  any: {},
  list: { type: 'array' },
  names: { type: 'array', items: text },
  listOrAny: { anyOf: [{ type: 'array' }, {}] },
  optional: { anyOf: [{ type: 'array', items: text }, { type: 'null' }], default: null },
  oneOrMany: { anyOf: [text, { type: 'array', items: text }] },
  map: { type: 'object', additionalProperties: text },
  far: { $ref: 'https://example.com/schema' },
  self: { $ref: '#/properties/self' },
};
const TOP = Object.keys(properties);

const knownInstead = (path: string, inputSchema: JsonObject) =>
  unknownArguments({ name: 't', inputSchema }, [{ path, encoding: 'base64' }]).map(({ known }) => known)[0];

const all = { type: 'object', properties, $defs: { page } };

describe('a list that is configured as one file', () => {
  it.each([
    ['names', ['names[]']],
    ['pages', ['pages[].data', 'pages[].n']],
    ['list', ['list[]']],
    ['optional', ['optional[]']],
  ])('%s is told with how its items are named', (path, known) => {
    expect(unknownArguments({ name: 't', inputSchema: all }, [{ path, encoding: 'base64' }])).toEqual([
      { path, known, isList: true },
    ]);
  });

  it.each(['names[]', 'oneOrMany', 'listOrAny', 'any'])('%s is none', (path) => {
    expect(knownInstead(path, all)).toBeUndefined();
  });

  it.each<[string, Omit<FileArgument, 'path'>]>([
    ['a list of its bytes', { encoding: 'bytes' }],
    ['a list from its template', { encoding: 'object', template: [{ data: '$base64' }] }],
  ])('is none where the file is written as %s', (_how, file) => {
    expect(unknownArguments({ name: 't', inputSchema: all }, [{ path: 'list', ...file }])).toEqual([]);
  });
});

describe('an argument that a tool does not have', () => {
  it.each([
    ['imgae', TOP],
    ['constructor', TOP],
    ['images[]', TOP],
    ['pages[].dta', ['pages[].data', 'pages[].n']],
    ['pages.data', ['pages']],
    ['image[]', ['image']],
    ['image.data', ['image']],
    ['maybe.dta', ['maybe.data', 'maybe.n']],
  ])('%s is told with those that it has', (path, known) => {
    expect(knownInstead(path, all)).toEqual(known);
  });

  it.each([
    'image',
    'pages[].data',
    'maybe',
    'maybe.data',
    'free.image',
    'any.image',
    'any[]',
    'list[]',
    'list[].image',
    'map.image',
    'far',
    'far.image',
    'self.image',
  ])('%s is none: the tool has it, or leaves it open', (path) => {
    expect(knownInstead(path, all)).toBeUndefined();
  });

  it('is told with at most fifty of those that it has, and a hundred characters of each', () => {
    const names = Array.from({ length: 60 }, (_, index) => `${index}`.padStart(2, '0').padEnd(120, 'x'));
    const schema = { type: 'object', properties: Object.fromEntries(names.map((name) => [`n${name}`, text])) };
    const known = knownInstead('y', schema);
    expect(known).toEqual(names.slice(0, 50).map((name) => `n${name}`.slice(0, 100)));
  });

  it.each<[string, JsonObject, string[] | undefined]>([
    ['names no argument', { type: 'object' }, undefined],
    ['takes none', { type: 'object', properties: {} }, []],
    ['takes none and says so', { type: 'object', additionalProperties: false }, []],
    ['ignores others', { type: 'object', properties: { a: text }, additionalProperties: {} }, ['a']],
    ['takes others', { type: 'object', properties: { a: text }, additionalProperties: true }, undefined],
    ['names some by a pattern', { type: 'object', properties: { a: text }, patternProperties: { b: text } }, undefined],
    ['has another in a branch', { properties: { a: text }, oneOf: [{ properties: { b: text } }, {}] }, ['a', 'b']],
    ['has it in a branch', { properties: { a: text }, allOf: [{ properties: { x: text } }] }, undefined],
  ])('of a tool that %s', (_what, schema, known) => {
    expect(knownInstead('x', schema)).toEqual(known);
  });
});
