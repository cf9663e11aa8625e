import { describe, expect, it } from '@jest/globals';
import {
  acceptsAnyString,
  isDeclaredBase64,
  withoutBase64Declarations,
} from '../../../gateway/relay/structured-content.js';

const string = { type: 'string' };

describe('whether a link may take the place of base64', () => {
  it.each([
    ['no schema at all', undefined, ['data'], true],
    ['a plain string', { type: 'object', properties: { data: string } }, ['data'], true],
    [
      'a string in an array',
      { properties: { pages: { type: 'array', items: { properties: { d: string } } } } },
      ['pages', 3, 'd'],
      true,
    ],
    ['a key nobody declared', { type: 'object', properties: {} }, ['data'], true],
    ['a key that is not allowed', { properties: {}, additionalProperties: false }, ['data'], false],
    ['a pattern', { properties: { data: { type: 'string', pattern: '^[A-Za-z0-9+/]*$' } } }, ['data'], false],
    ['a format', { properties: { data: { type: 'string', format: 'byte' } } }, ['data'], false],
    ['a length', { properties: { data: { type: 'string', maxLength: 10 } } }, ['data'], false],
    ['a number', { properties: { data: { type: 'number' } } }, ['data'], false],
    ['a union with null', { properties: { data: { type: ['string', 'null'] } } }, ['data'], true],
    ['a local reference', { $defs: { f: string }, properties: { data: { $ref: '#/$defs/f' } } }, ['data'], true],
    ['a foreign reference', { properties: { data: { $ref: 'https://example.com/s' } } }, ['data'], false],
    ['a reference to itself', { properties: { data: { $ref: '#/properties/data' } } }, ['data'], false],
    [
      'a union of which one branch has the key',
      {
        anyOf: [
          { properties: { data: string }, additionalProperties: false },
          { properties: { blob: string }, additionalProperties: false },
        ],
      },
      ['data'],
      true,
    ],
    [
      'a union that also has a pattern there',
      { anyOf: [{ properties: { data: string } }, { properties: { data: { pattern: 'x' } } }] },
      ['data'],
      false,
    ],
    ['branches that all allow it', { anyOf: [{ properties: { data: string } }, {}] }, ['data'], true],
    [
      'a pattern beside a reference',
      { $defs: { f: string }, properties: { data: { $ref: '#/$defs/f', pattern: 'x' } } },
      ['data'],
      false,
    ],
    ['a property called as every object has one', { properties: {} }, ['constructor'], true],
    ['a reference that is not well-formed', { properties: { data: { $ref: '#/%E0%A4%A' } } }, ['data'], false],
    ['a branch that does not', { allOf: [{ properties: { data: { const: 'x' } } }] }, ['data'], false],
  ])('%s', (_name, schema, path, expected) => {
    expect(acceptsAnyString(schema as never, path)).toBe(expected);
  });
});

describe('a declaration of base64', () => {
  const schema = {
    type: 'object',
    $defs: {
      file: { type: 'string', contentEncoding: 'base64', contentMediaType: 'image/png', description: 'A page' },
    },
    properties: { page: { $ref: '#/$defs/file' }, title: string },
  };

  it('is found through a reference', () => {
    expect(isDeclaredBase64(schema, ['page'])).toBe(true);
    expect(isDeclaredBase64(schema, ['title'])).toBe(false);
    expect(isDeclaredBase64(undefined, ['page'])).toBe(false);
  });

  it('is taken out of what clients see, the rest stays', () => {
    expect(withoutBase64Declarations(schema)).toEqual({
      ...schema,
      $defs: { file: { type: 'string', description: 'A page' } },
    });
  });

  it('leaves a schema without one alone', () => {
    expect(withoutBase64Declarations({ type: 'object', properties: { title: string } })).toBeUndefined();
  });

  it('is found in one branch of a union', () => {
    const branch = { type: 'string', contentEncoding: 'base64' };
    expect(isDeclaredBase64({ properties: { page: { anyOf: [branch, { type: 'null' }] } } }, ['page'])).toBe(true);
  });

  it('in a value is none', () => {
    const value = { contentEncoding: 'base64', content: 'QUJD' };
    expect(withoutBase64Declarations({ properties: { page: { enum: [value], examples: [value] } } })).toBeUndefined();
  });

  it('a property called __proto__ stays one', () => {
    const declared = JSON.parse('{"properties":{"__proto__":{"type":"string","contentEncoding":"base64"}}}');
    expect(JSON.stringify(withoutBase64Declarations(declared))).toBe('{"properties":{"__proto__":{"type":"string"}}}');
  });
});

it('a schema whose branches lead back to itself ten times over is given up', () => {
  const back = { $ref: '#/$defs/a' };
  const hostile = {
    $defs: { a: { anyOf: Array.from({ length: 10 }, () => back) } },
    properties: { data: { allOf: [back], oneOf: [back, back] } },
  };
  expect(acceptsAnyString(hostile, ['data'])).toBe(false);
  expect(isDeclaredBase64(hostile, ['data'])).toBe(false);
});
