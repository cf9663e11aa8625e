import { describe, expect, it } from '@jest/globals';
import type { JsonObject, JsonPath, JsonValue } from '../../../gateway/ports/json.js';
import { isDeclaredBase64 } from '../../../gateway/schema/declared.js';
import { publishedSchema } from '../../../gateway/schema/published.js';
import { StructuredValue } from '../../../gateway/schema/structured-value.js';

/** A name that the linter takes for a promise's. */
const THEN = 'then';

const string = { type: 'string' };
const LINK = 'https://mcp.example.com/d/AbCdEfGhIjKlMnOpQrStUvWxYz0123456789_-AbCdE';
const LENGTH = { least: 50_000, most: 50_004 };

/** An object around what is asked about, with the string at the path cut out. */
function skeleton([key, ...rest]: JsonPath): JsonValue {
  if (key === undefined) return '';
  if (typeof key === 'string') return JSON.parse(`{${JSON.stringify(key)}:${JSON.stringify(skeleton(rest))}}`);
  return Array.from({ length: key + 1 }, (_, index) => (index === key ? skeleton(rest) : {}));
}

/** What takes the place of the string: the link, nothing, or the string stays. */
function placed(schema: unknown, path: JsonPath, beside: JsonObject = {}): string {
  const value = new StructuredValue(schema as JsonObject, { ...(skeleton(path) as JsonObject), ...beside });
  value.lacks(path, LENGTH);
  const text = value.fitting(path, [LINK, '']);
  return text === LINK ? 'link' : text === '' ? 'empty' : 'stays';
}

const data = (schema: JsonValue): JsonObject => ({ type: 'object', properties: { data: schema } });

describe('what may take the place of base64 where a schema says', () => {
  it.each<[string, unknown, JsonPath, string]>([
    ['a plain string', data(string), ['data'], 'link'],
    ['in an array', { properties: { p: { items: { properties: { d: string } } } } }, ['p', 3, 'd'], 'link'],
    ['a key that is not declared', { properties: {} }, ['data'], 'link'],
    ['a key that is not allowed', { properties: {}, additionalProperties: false }, ['data'], 'link'],
    ['a pattern of base64', data({ ...string, pattern: '^[A-Za-z0-9+/]*=*$' }), ['data'], 'empty'],
    ['a strict pattern of base64', data({ pattern: '^(?:[A-Za-z0-9+/]{4})*(?:[\\w+/]{2}==)?$' }), ['data'], 'empty'],
    ['a pattern that wants something', data({ ...string, pattern: '^[A-Za-z0-9+/]+=*$' }), ['data'], 'stays'],
    ['a pattern that links have', data({ ...string, pattern: '^https?://\\S+$' }), ['data'], 'link'],
    ['a pattern that takes long', data({ pattern: '^(([a-z])+.)+[A-Z]([a-z])+$' }), ['data'], 'stays'],
    ['format byte', data({ ...string, format: 'byte' }), ['data'], 'empty'],
    ['format uri', data({ ...string, format: 'uri' }), ['data'], 'link'],
    ['a format that is not known', data({ ...string, format: 'x-secret' }), ['data'], 'stays'],
    ['room for a link', data({ ...string, maxLength: 100 }), ['data'], 'link'],
    ['too little room for a link', data({ anyOf: [{ maxLength: 20 }, { minLength: 999 }] }), ['data'], 'empty'],
    ['more than a link', data({ ...string, minLength: 1000 }), ['data'], 'stays'],
    ['at least something', data({ ...string, minLength: 1, pattern: '^(?:[A-Za-z0-9+/])*$' }), ['data'], 'stays'],
    ['a number', data({ type: 'number' }), ['data'], 'link'],
    ['a union with null', data({ type: ['string', 'null'] }), ['data'], 'link'],
    ['a local reference', { $defs: { f: string }, ...data({ $ref: '#/$defs/f' }) }, ['data'], 'link'],
    ['a reference into a list', { ...data({ $ref: '#/anyOf/0' }), anyOf: [{}] }, ['data'], 'link'],
    ['a foreign reference', data({ $ref: 'https://example.com/s' }), ['data'], 'stays'],
    ['an anchor', { ...data({ $ref: '#f' }), $defs: { f: { $anchor: 'f' } } }, ['data'], 'link'],
    [
      'an anchor of more',
      { ...data({ $ref: '#f' }), $defs: { f: { $anchor: 'f', minLength: 500 } } },
      ['data'],
      'stays',
    ],
    [
      'an anchor of two',
      { ...data({ $ref: '#f' }), $defs: { f: { $anchor: 'f' }, g: { $anchor: 'f' } } },
      ['data'],
      'stays',
    ],
    ['a reference to itself', data({ $ref: '#/properties/data' }), ['data'], 'stays'],
    ['another base for references', data({ $id: 'https://example.com/', $ref: '#/x' }), ['data'], 'stays'],
    [
      'a length beside a reference',
      { $defs: { f: string }, ...data({ $ref: '#/$defs/f', minLength: 500 }) },
      ['data'],
      'stays',
    ],
    [
      'a length behind a reference',
      { $defs: { f: { minLength: 500 } }, ...data({ $ref: '#/$defs/f' }) },
      ['data'],
      'stays',
    ],
    ['a length in allOf', data({ allOf: [{ minLength: 500 }, string] }), ['data'], 'stays'],
    ['a length in all of anyOf', data({ anyOf: [{ minLength: 500 }, { type: 'null' }] }), ['data'], 'stays'],
    ['a length in one of anyOf', data({ anyOf: [{ minLength: 500 }, string] }), ['data'], 'link'],
    ['a short one forbidden', data({ not: { maxLength: 500 } }), ['data'], 'stays'],
    ['a long one forbidden', data({ not: { minLength: 500 } }), ['data'], 'link'],
    ['two lengths, one of which is due', data({ oneOf: [{ maxLength: 500 }, { minLength: 501 }] }), ['data'], 'link'],
    ['a length if', data({ if: { maxLength: 500 }, [THEN]: { pattern: '^x' } }), ['data'], 'stays'],
    ['a few texts', data({ anyOf: [{ enum: ['', 'png'] }, { minLength: 999 }] }), ['data'], 'empty'],
    ['one text', data({ const: 'png' }), ['data'], 'link'],
    ['patterns of names', { patternProperties: { '^d': { minLength: 500 } } }, ['data'], 'stays'],
    ['patterns of other names', { patternProperties: { '^e': { minLength: 500 } } }, ['data'], 'link'],
    ['names that are left', { unevaluatedProperties: { minLength: 500 } }, ['data'], 'stays'],
    ['items all unlike', { properties: { p: { uniqueItems: true } } }, ['p', 1], 'link'],
    [
      'too many that contain it',
      { properties: { p: { contains: { maxLength: 500 }, maxContains: 1 } } },
      ['p', 1],
      'stays',
    ],
    ['a property called as every object has one', { properties: {} }, ['constructor'], 'link'],
    ['a property that readers drop', { properties: {} }, ['__proto__'], 'stays'],
    ['nothing but false', false, ['data'], 'link'],
    ['what is not to be known yet', data({ $dynamicRef: '#x' }), ['data'], 'stays'],
  ])('%s', (_, schema, path, expected) => {
    expect(placed(schema, path)).toBe(expected);
  });

  it.each<[string, JsonObject, JsonObject, string]>([
    ['its own kind', { properties: { kind: { const: 'a' }, data: string } }, { kind: 'a' }, 'link'],
    ['another kind', { properties: { kind: { const: 'b' }, data: { minLength: 500 } } }, { kind: 'a' }, 'link'],
    [
      'a kind that cannot be told',
      { properties: { kind: { pattern: '(a)' }, data: { minLength: 500 } } },
      { kind: 'a' },
      'stays',
    ],
  ])('a branch of a union, of %s', (_, branch, beside, expected) => {
    const other = { properties: { kind: { const: 'a' }, data: string }, required: ['kind', 'data'] };
    expect(placed({ oneOf: [{ ...branch, required: ['kind', 'data'] }] }, ['data'], beside)).toBe(expected);
    expect(placed({ anyOf: [branch, other] }, ['data'], beside)).toBe('link');
  });

  it('what else is in the value need not be understood', () => {
    const schema = {
      properties: { data: string, at: { format: 'date-time', pattern: '^(x+x+)+y$' } },
      required: ['at'],
    };
    expect(placed(schema, ['data'], { at: 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx' })).toBe('link');
  });

  it('of keys that are named twice nothing is changed', () => {
    const value = new StructuredValue(data(string), { data: '' });
    value.lacks(['data'], LENGTH);
    value.lacks(['data'], LENGTH);
    expect(value.fitting(['data'], [LINK, ''])).toBeUndefined();
  });

  it.each<[string, JsonValue]>([
    ['branches that lead back to their union ten times over', { anyOf: Array(10).fill({ $ref: '#/$defs/a' }) }],
    [
      'patterns without end',
      { patternProperties: Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`(a+)+${i}`, {}])) },
    ],
    ['a hundred levels', Array(100).reduce((inner) => ({ allOf: [inner, inner] }), {})],
  ])('a hostile schema costs no more than its steps: %s', (_, a) => {
    const nested = Array.from({ length: 100 }).reduce<JsonObject>((inner) => ({ allOf: [inner, inner], not: inner }), {
      minLength: 9,
    });
    const hostile = {
      $defs: { a },
      properties: { data: { allOf: [{ $ref: '#/$defs/a' }, nested] }, x: { $ref: '#/$defs/a' } },
    };
    const before = process.cpuUsage();
    expect(placed(hostile, ['data'], { x: { data: 'a'.repeat(1000) } })).toBe('stays');
    expect(isDeclaredBase64(hostile, ['data'])).toBe(false);
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1000).toBeLessThan(1500);
  });
});

describe('a declaration of base64', () => {
  const file = {
    ...string,
    contentEncoding: 'base64',
    contentMediaType: 'image/png',
    minLength: 500,
    description: 'A page',
  };
  const rest = { ...string, description: 'A page' };
  const limited = { ...rest, minLength: 500 };

  it('is found through references, unions, lists and patterns of names', () => {
    const schema = {
      $defs: { file },
      properties: {
        page: { $ref: '#/$defs/file' },
        title: string,
        list: { items: { anyOf: [file, { type: 'null' }] } },
      },
      patternProperties: { '^x': file },
    };
    expect(isDeclaredBase64(schema, ['page'])).toBe(true);
    expect(isDeclaredBase64(schema, ['list', 7])).toBe(true);
    expect(isDeclaredBase64(schema, ['x1'])).toBe(true);
    expect(isDeclaredBase64(schema, ['title'])).toBe(false);
    expect(isDeclaredBase64(undefined, ['page'])).toBe(false);
  });

  it.each<[string, JsonObject, JsonObject]>([
    ['a member', data(file), data(rest)],
    ['as Pydantic writes it', data({ ...rest, format: 'base64' }), data(rest)],
    [
      'behind a reference',
      { $defs: { file }, ...data({ $ref: '#/$defs/file' }) },
      { $defs: { file: rest }, ...data({ $ref: '#/$defs/file' }) },
    ],
    ['or null', data({ oneOf: [file, { type: 'null' }] }), data({ oneOf: [rest, { type: 'null' }] })],
    ['or another text', data({ oneOf: [file, { maxLength: 9 }] }), data({ oneOf: [limited, { maxLength: 9 }] })],
    ['forbidden', data({ not: file }), data({ not: limited })],
    ['as a condition', data({ if: file, [THEN]: { ...file } }), data({ if: limited, [THEN]: rest })],
    [
      'forbidden elsewhere',
      { $defs: { file }, ...data({ $ref: '#/$defs/file' }), not: { $ref: '#/$defs/file' } },
      { $defs: { file: limited }, ...data({ $ref: '#/$defs/file' }), not: { $ref: '#/$defs/file' } },
    ],
    ['beside another base', { ...data(file), items: { $id: 'x:y' } }, { ...data(limited), items: { $id: 'x:y' } }],
    [
      'not at all',
      { properties: { page: { enum: [file], examples: [file], const: file } } },
      { properties: { page: { enum: [file], examples: [file], const: file } } },
    ],
  ])(
    'is taken out of what clients see, and what stands in its way where nothing else hangs on it: %s',
    (_, schema, expected) => {
      expect(publishedSchema(schema)).toEqual(expected);
    },
  );

  it('of a union whose branches say which they are goes with its limits', () => {
    const branch = (kind: string, inner: JsonObject) => ({
      type: 'object',
      properties: { kind: { const: kind }, data: inner },
      required: ['kind'],
    });
    const oneOf = (inner: JsonObject) => ({ oneOf: [branch('a', inner), branch('b', string)] });
    expect(publishedSchema(oneOf(file))).toEqual(oneOf(rest));
  });

  it('leaves a schema without one alone', () => {
    const plain = data(string);
    expect(publishedSchema(plain)).toBe(plain);
  });

  it('a property called __proto__ stays one', () => {
    const declared = JSON.parse('{"properties":{"__proto__":{"type":"string","contentEncoding":"base64"}}}');
    expect(JSON.stringify(publishedSchema(declared))).toBe('{"properties":{"__proto__":{"type":"string"}}}');
  });
});
