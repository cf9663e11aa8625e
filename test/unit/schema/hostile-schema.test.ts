import { describe, expect, it } from '@jest/globals';
import type { JsonObject, JsonValue } from '../../../gateway/ports/json.js';
import { placeOf, typesOf } from '../../../gateway/schema/place.js';
import { publishedSchema } from '../../../gateway/schema/published.js';
import { StructuredValue } from '../../../gateway/schema/structured-value.js';
import { withLiftedNames } from '../../../gateway/tools/lifted-names.js';

/** Values of a schema, or of a result, that are parsed: `limits.values`. */
const VALUES = 9900;
const HALF = VALUES / 2;
const LENGTH = { least: 40_000, most: 40_000 };

function list<Value>(count: number, one: (index: number) => Value): Value[] {
  return Array.from({ length: count }, (_, index) => one(index));
}

function members<Value>(count: number, one: (index: number) => Value): Record<string, Value> {
  return Object.fromEntries(list(count, (index) => [`k${index}`, one(index)]));
}

/** What takes the place of `f`, beside a value `g` with a schema that has to be judged as a whole. */
function placed(g: JsonValue, value: JsonValue, $defs: JsonObject = {}): string | undefined {
  const schema = { oneOf: [{ properties: { f: { maxLength: 20 }, g } }], $defs };
  const result = new StructuredValue(schema, { f: '', g: value });
  result.lacks(['f'], LENGTH);
  return result.fitting(['f'], ['https://a/d/x']);
}

/** The same, of a schema to which thousands of branches refer. */
function repeated(one: JsonObject, value: JsonValue, count = HALF): string | undefined {
  return placed({ allOf: list(count, () => ({ $ref: '#/$defs/a' })) }, value, { a: one });
}

const WIDE = members(VALUES, () => 1);
const LONG = 'a'.repeat(32_000);

/** Each took from one second to several minutes, in one turn of the event loop. */
describe('a result is judged in bounded time by a hostile schema', () => {
  it.each<[string, JsonObject, JsonValue]>([
    ['a wide value for members that are evaluated elsewhere', { unevaluatedProperties: false }, WIDE],
    ['a wide value with empty objects', { enum: list(HALF, () => ({})) }, WIDE],
    ['a wide value with one empty object', { const: {} }, WIDE],
    ['a number with thousands of types', { type: list(HALF, (index) => `t${index}`) }, 1],
    ['members with long lists of names', { dependentRequired: { x: list(HALF, () => 'x') } }, { x: 1 }],
    ['a long text of characters with two units by its length', { minLength: 1 }, '😀'.repeat(16_000)],
    ['a long text by a format', { format: 'uri' }, `https://a.b/${LONG}`],
    ['a long text by a pattern that reads much of it from each place', { pattern: `${'a{1000}'.repeat(30)}b` }, LONG],
    ['a long text by a pattern that reads it once', { pattern: `^${'a{1000}'.repeat(32)}` }, LONG],
  ])('that compares %s', (_, schema, value) => {
    expect(repeated(schema, value)).toBeUndefined();
  });

  it('that has thousands of patterns', () => {
    const pattern = (index: number) => `^${'[\\p{L}\\p{N}]'.repeat(60)}${index}`;
    expect(placed({ allOf: list(VALUES / 3, (index) => ({ pattern: pattern(index) })) }, LONG)).toBeUndefined();
  });

  it('that has patterns of hundreds of optional parts, which engines take seconds to compile', () => {
    const pattern = (index: number) => `^${'.?'.repeat(480)}q${index}`;
    expect(placed({ allOf: list(20, (index) => ({ pattern: pattern(index) })) }, 'd')).toBe('https://a/d/x');
  });
});

describe('a schema is published in bounded time', () => {
  const base64 = { contentEncoding: 'base64', pattern: 'a' };
  const published = (schema: JsonObject) => publishedSchema({ ...schema, properties: { x: base64 } }).properties;

  it('whose unions compare thousands of types with each other', () => {
    const $defs = members(4, (at) => ({ type: list(1500, (index) => `t${at}_${index}`) }));
    const oneOf = list(4, (at) => ({ $ref: `#/$defs/k${at}` }));
    expect(published({ allOf: list(400, () => ({ oneOf })), $defs })).toEqual({ x: {} });
  });

  it('whose union requires one of many texts thousands of times', () => {
    const required = list(HALF, () => 'a');
    const properties = { a: { enum: list(HALF, (index) => `v${index}`) } };
    expect(published({ oneOf: [{ type: 'object', required, properties }, {}] })).toEqual({ x: {} });
  });

  it('while a union that people write is told apart as before', () => {
    const kind = (name: string) => ({
      type: 'object',
      required: ['kind', 'data'],
      properties: { kind: { const: name }, data: base64 },
    });
    const { oneOf } = publishedSchema({ oneOf: [kind('a'), kind('b')] });
    expect(oneOf).toMatchObject([{ properties: { data: {} } }, { properties: { data: {} } }]);
    expect(JSON.stringify(oneOf)).not.toContain('pattern');
  });
});

describe('a tool is read in bounded time', () => {
  it('whose arguments refer to one list of thousands of types, of which nothing is kept', () => {
    const type = list(HALF, (index) => `t${index}`);
    const tool = { inputSchema: { properties: members(100, () => ({ $ref: '#/d' })), d: { type } } };
    expect(typesOf(tool, ['k0'])).toBeUndefined();
  });

  it('whose unions are asked for a hundred arguments', () => {
    const way = list(250, () => 'a').join('/');
    let schema: JsonObject = { properties: {} };
    for (let depth = 0; depth < 250; depth++) schema = { a: schema };
    const anyOf = [...list(HALF / 2, () => ({ $ref: `#/${way}` })), { properties: members(100, () => ({})) }];
    const tool = { inputSchema: { ...schema, anyOf } };
    const places = list(1000, (index) => placeOf(tool, [`k${index % 100}`])?.at.at(-1));
    expect(new Set(places).size).toBe(100);
  });

  it('whose unions lead to what holds on a condition, by thousands of long references', () => {
    const way = list(250, () => 'a').join('/');
    let schema: JsonObject = { properties: {} };
    for (let depth = 0; depth < 250; depth++) schema = { a: schema };
    const some = { dependentSchemas: members(50, () => ({ $ref: `#/${way}` })) };
    const anyOf = [...list(HALF / 2, () => ({ $ref: '#/some' })), { else: { properties: members(100, () => ({})) } }];
    const tool = { inputSchema: { ...schema, some, anyOf } };
    const places = list(100, (index) => placeOf(tool, [`k${index}`])?.at.join('/'));
    expect(places).toEqual(list(100, (index) => `inputSchema/anyOf/${HALF / 2}/else/properties/k${index}`));
  });

  it('whose nested arguments have names that are taken thousands of times', () => {
    const properties = { __y: {}, ...Object.fromEntries(list(VALUES, (index) => [`__y_${index + 2}`, {}])) };
    // names differ in characters that a lifted name does not have
    const slots = list(100, (index) => {
      return { path: [String.fromCodePoint(0x4e00 + index), 'y'], declaredBy: 'd', deliveries: [], companions: {} };
    });
    const lifted = withLiftedNames({ inputSchema: { properties } }, slots).map((slot) => slot.lifted);
    expect(lifted).toEqual(list(100, (index) => `__y_${VALUES + 2 + index}`));
  });
});
