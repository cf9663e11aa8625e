import { expect, it } from '@jest/globals';
import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import fc from 'fast-check';
import type { JsonObject, JsonPath, JsonValue } from '../../gateway/ports/json.js';
import { publishedSchema } from '../../gateway/schema/published.js';
import { StructuredValue } from '../../gateway/schema/structured-value.js';
import { runs } from '../helpers/effort.js';
import { schemaFor } from './schema-for-value.js';

/** As the SDKs set them up: 1.x for draft 7, 2.x for 2020-12. */
const OPTIONS = {
  strict: false,
  validateFormats: true,
  validateSchema: false,
  allErrors: true,
  logger: false,
} as const;
const VALIDATORS = [() => new Ajv(OPTIONS), () => new Ajv2020(OPTIONS)].map((create) => () => {
  const ajv = create();
  (addFormats as unknown as (one: Ajv) => void)(ajv as Ajv);
  return ajv;
});

const LINKS = [
  'http://127.0.0.1:8080/d/AbCdEfGhIjKlMnOpQrStUvWxYz0123456789_-AbCdE',
  'https://files.example.com/d/AbCdEfGhIjKlMnOpQrStUvWxYz0123456789_-AbCdE',
  `https://s3.example.com/wharf/f/f_x?X-Amz-Credential=AK%2F20260101&X-Amz-Signature=${'0'.repeat(300)}`,
];

const base64 = fc.uint8Array({ minLength: 60, maxLength: 120 }).map((bytes) => Buffer.from(bytes).toString('base64'));
const word = fc.constantFrom('', 'a', 'png', 'note');
const key = fc.constantFrom('data', 'data', 'other', 'list', 'kind', 'x');

const { value } = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    { arbitrary: base64, weight: 3 },
    word,
    fc.constantFrom(null, 1, true),
    { arbitrary: fc.dictionary(key, tie('value'), { maxKeys: 4, noNullPrototype: true }), weight: 3 },
    fc.array(tie('value'), { maxLength: 3 }),
  ),
}));

/** A name that the linter takes for a promise's. */
const THEN = 'then';

const PATTERNS = ['^[A-Za-z0-9+/]*=*$', '^https?://', '^data:', '.', '^$', '(?:a|b)?', '^(?:[A-Za-z0-9+/]{4})*.{0,3}$'];
const text = fc
  .record(
    {
      type: fc.constantFrom('string', 'string', ['string', 'null']),
      minLength: fc.constantFrom(0, 1, 60, 70, 90, 500),
      maxLength: fc.constantFrom(0, 50, 80, 100, 160, 1000),
      pattern: fc.constantFrom(...PATTERNS),
      format: fc.constantFrom('uri', 'url', 'byte', 'binary', 'date', 'email', 'uri-reference', 'regex', 'base64'),
      contentEncoding: fc.constantFrom('base64', 'BASE64', 'base16'),
      contentMediaType: fc.constant('image/png'),
      enum: fc.constantFrom(['', 'a'], ['a', null]),
      const: fc.constantFrom('', 'png'),
    },
    { requiredKeys: [] },
  )
  .map((schema) => {
    // most of them say one thing or two
    const kept = Object.entries(schema).filter((_, index) => index % 3 !== 2 || Object.keys(schema).length < 4);
    return Object.fromEntries(kept) as JsonObject;
  });

/** To definitions by both their names, to anchors, by the address of the whole, and to a schema with an address of its own. */
const REFERENCES = [
  ...['a', 'b'].flatMap((name) => [`#/$defs/${name}`, `#/$defs/${name}`, `#/definitions/${name}`]),
  ...['#', '#n', '#d', 'https://example.com/whole#/$defs/a', 'https://example.com/inner', '#/properties/data'],
];

const { schema } = fc.letrec<{ schema: JsonValue }>((tie) => {
  const inner = tie('schema');
  const members = fc.dictionary(key, inner, { maxKeys: 3, noNullPrototype: true });
  const list = fc.array(inner, { minLength: 1, maxLength: 3 });
  const keywords: Readonly<Record<string, fc.Arbitrary<JsonValue>>> = {
    type: fc.constantFrom('object', 'array', 'string', ['object', 'array']),
    properties: members,
    required: fc.subarray(['data', 'kind', 'x']),
    additionalProperties: inner,
    minProperties: fc.constantFrom(0, 1, 3),
    maxProperties: fc.constantFrom(2, 4),
    patternProperties: fc.dictionary(fc.constantFrom('^d', 'a$', '.'), inner, { maxKeys: 2, noNullPrototype: true }),
    items: fc.oneof(inner, list),
    additionalItems: inner,
    minItems: fc.constantFrom(0, 1, 2),
    maxItems: fc.constantFrom(1, 3),
    prefixItems: list,
    contains: inner,
    minContains: fc.constantFrom(0, 1, 2),
    maxContains: fc.constantFrom(1, 2),
    uniqueItems: fc.boolean(),
    allOf: list,
    anyOf: list,
    oneOf: list,
    not: inner,
    if: inner,
    [THEN]: inner,
    else: inner,
    $ref: fc.constantFrom(...REFERENCES),
    $dynamicRef: fc.constantFrom('#d', '#/$defs/a'),
    $recursiveRef: fc.constant('#'),
    $id: fc.constantFrom('https://example.com/inner', 'inner'),
    $anchor: fc.constantFrom('n', 'm'),
    $dynamicAnchor: fc.constant('d'),
    nullable: fc.boolean(),
    dependentSchemas: members,
    dependentRequired: fc.constantFrom({ data: ['kind'] }, { kind: ['data', 'x'] }),
    dependencies: fc.oneof(members, fc.constant<JsonValue>({ data: ['other'] })),
    unevaluatedProperties: inner,
    unevaluatedItems: inner,
    minLength: fc.constantFrom(1, 80),
    propertyNames: fc.constantFrom<JsonValue>(true, { maxLength: 4 }, { pattern: 'a' }),
    enum: fc.constantFrom<JsonValue>([{}], [{ data: '' }, []]),
  };
  // chosen before they are made: of forty schemas in each other nearly all would be made in vain
  const node = fc
    .subarray(Object.entries(keywords), { maxLength: 3 })
    .chain((chosen) => fc.record(Object.fromEntries(chosen), { noNullPrototype: true }));
  return {
    schema: fc.oneof({ maxDepth: 3 }, { arbitrary: text, weight: 2 }, fc.boolean(), { arbitrary: node, weight: 4 }),
  };
});

/** What the whole says of itself. */
const said = fc.constantFrom<JsonObject>(
  {},
  {},
  {},
  { $id: 'https://example.com/whole' },
  { $anchor: 'n' },
  { $dynamicAnchor: 'd' },
  { $recursiveAnchor: true },
);

const root = fc.tuple(schema, schema, schema, said).map(
  ([top, a, b, own]) =>
    ({
      ...(typeof top === 'object' && top ? (top as JsonObject) : {}),
      ...own,
      $defs: { a, b },
      definitions: { b: a, a: b },
    }) as JsonObject,
);

/** Paths of the strings that look like files. */
function cutsIn(json: JsonValue, path: JsonPath = []): { path: JsonPath; text: string }[] {
  if (typeof json === 'string') return json.length >= 60 ? [{ path, text: json }] : [];
  if (Array.isArray(json)) return json.flatMap((item, index) => cutsIn(item, [...path, index]));
  if (typeof json !== 'object' || json === null) return [];
  return Object.entries(json).flatMap(([name, item]) => cutsIn(item, [...path, name]));
}

function replaced(json: JsonValue, path: JsonPath, text: string): JsonValue {
  const [first, ...rest] = path;
  if (first === undefined) return text;
  const copy = Array.isArray(json) ? [...json] : { ...(json as JsonObject) };
  const at = copy as Record<string | number, JsonValue>;
  at[first] = replaced(at[first] as JsonValue, rest, text);
  return copy as JsonValue;
}

/** What Wharf would make of a value. */
function rewritten(published: JsonObject, json: JsonValue, links: readonly string[]): JsonValue {
  const cuts = cutsIn(json);
  const skeleton = cuts.reduce((result, { path }) => replaced(result, path, ''), json);
  const structured = new StructuredValue(published, skeleton);
  // of the file's length only this is known
  for (const { path, text } of cuts) structured.lacks(path, { least: text.length - 2, most: text.length });
  let result = json;
  for (const [index, { path }] of cuts.entries()) {
    const fitting = structured.fitting(path, [links[index % links.length] as string, '']);
    if (fitting === undefined) continue;
    structured.change([{ path, value: fitting }]);
    result = replaced(result, path, fitting);
  }
  return result;
}

const data = fc.dictionary(key, value, { minKeys: 1, maxKeys: 4, noNullPrototype: true });

/** How often a value was valid before, and how often it was changed. */
interface Tries {
  valid: number;
  changed: number;
}

/** What clients' validators say of what becomes of a value that was valid. */
function hold(server: JsonObject, json: JsonValue, links: readonly string[], tries: Tries): void {
  const published = publishedSchema(server);
  const result = rewritten(published, json, links);
  for (const create of VALIDATORS) {
    let before: boolean;
    try {
      before = create().compile(server)(json) as boolean;
    } catch {
      // no client can use such a schema
      continue;
    }
    if (!before) continue;
    tries.valid += 1;
    if (result !== json) tries.changed += 1;
    const shown = create().compile(published);
    expect([shown(json), shown(result)]).toEqual([true, true]);
  }
}

it('whatever the outputSchema, what was valid stays valid to the validators of clients', () => {
  const tries = { valid: 0, changed: 0 };
  fc.assert(
    fc.property(root, data, fc.shuffledSubarray(LINKS, { minLength: 1 }), (server, json, links) =>
      hold(server, json, links, tries),
    ),
    { numRuns: runs(700, 200) },
  );
  // it is no proof if nothing is ever done
  expect(tries.valid).toBeGreaterThan(100);
  expect(tries.changed).toBeGreaterThan(30);
});

it('a schema that a server wrote for its value, in whatever words, holds for what becomes of it', () => {
  const tries = { valid: 0, changed: 0 };
  fc.assert(
    fc.property(fc.gen(), data, fc.shuffledSubarray(LINKS, { minLength: 1 }), (draw, json, links) =>
      hold(schemaFor(json, draw), json, links, tries),
    ),
    // with fewer there are not enough that are valid
    { numRuns: runs(150, 150) },
  );
  expect(tries.valid).toBeGreaterThan(60);
  expect(tries.changed).toBeGreaterThan(20);
});
