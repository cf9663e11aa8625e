import { expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import fc from 'fast-check';
import { adapters } from '../../adapters/index.js';
import { patchText } from '../../gateway/json/patch.js';
import { DEFAULT_LIMITS } from '../../gateway/policy/limits.js';
import type { JsonObject, JsonValue } from '../../gateway/ports/json.js';
import { valuesIn } from '../../gateway/relay/tools/file-slots.js';
import { readerOf } from '../../gateway/relay/tools/reader.js';
import { show } from '../../gateway/relay/tools/show.js';
import { UnknownMethods } from '../../gateway/relay/upstream/unknown-methods.js';
import { readTool } from '../../gateway/tools/tool.js';
import { runs } from '../helpers/effort.js';

const { dialects } = adapters;
const CLIENT = { protocolVersion: '2025-06-18', capabilities: {} };
const unknownMethods = new UnknownMethods();
const VIEW = { server: 's', limits: DEFAULT_LIMITS, accepts: 4e6, dialects, uploadTool: 'upload', unknownMethods };

/** What stands where a file is given, and a handle in its place. */
const FILE = 'aGVsbG8gd29ybGQsIGhlbGxvIHdvcmxk';
const HANDLE = 'mcp-file://wharf/f_AAAAAAAAAAAAAAAAAAAAAA';

/** A schema with a value of it, in which files stand only where the schema has them. */
interface Sample {
  schema: JsonObject;
  value: JsonValue;
}

const OF_A_FILE: JsonObject[] = [
  { type: 'string', contentEncoding: 'base64' },
  { type: 'string', contentEncoding: 'base64', description: 'the scan', maxLength: 5000 },
  { $ref: '#/$defs/file' },
  { $ref: '#file' },
  { $ref: 'x:tool#/$defs/file' },
  { allOf: [{ $ref: '#/$defs/file' }], description: 'the scan' },
  { anyOf: [{ $ref: '#/$defs/file' }, { type: 'null' }], default: null },
  { oneOf: [{ type: 'null' }, { type: 'string', contentEncoding: 'base64' }] },
];
const DEFS = {
  file: { $anchor: 'file', type: 'string', contentEncoding: 'base64' },
  page: { type: 'object', properties: { scan: { $anchor: 'scan', type: 'string', contentEncoding: 'base64' } } },
};

const file = fc.constantFrom(...OF_A_FILE).map((schema): Sample => ({ schema, value: FILE }));
/** References to one object from several places. */
const page: Sample = { schema: { $ref: '#/$defs/page' }, value: { scan: FILE } };

const other = fc.constantFrom<Sample>(
  { schema: { type: 'string' }, value: 'a word' },
  { schema: { type: 'integer' }, value: 7 },
  { schema: { type: ['string', 'null'] }, value: null },
  { schema: {}, value: { anything: true } },
);

const name = fc.constantFrom('a', 'data', 'note', 'é', 'x.y', 'constructor', 'a b');
/** Names that a pattern means, and the pattern. */
const likeNames = fc.constantFrom<[pattern: string, names: string[]]>(
  ['^(img|doc)_', ['img_1', 'doc_ü']],
  ['^p\\d{1,3}$', ['p1', 'p999']],
  ['^(?:[A-Z]+-)+$', ['AB-C-']],
);

const { sample } = fc.letrec<{ sample: Sample }>((tie) => {
  const inner = tie('sample');
  const properties = fc
    .dictionary(name, inner, { minKeys: 1, maxKeys: 3, noNullPrototype: true })
    .map((members): Sample => {
      const of = (part: keyof Sample) =>
        Object.fromEntries(Object.entries(members).map(([key, one]) => [key, one[part]])) as JsonObject;
      return {
        schema: { type: 'object', properties: of('schema'), required: Object.keys(members) },
        value: of('value'),
      };
    });
  const list = fc.tuple(inner, fc.integer({ min: 0, max: 3 })).map(([one, count]): Sample => {
    return { schema: { type: 'array', items: one.schema }, value: Array(count).fill(one.value) };
  });
  const tuple = fc.array(inner, { minLength: 1, maxLength: 3 }).map((parts): Sample => {
    return {
      schema: { type: 'array', prefixItems: parts.map(({ schema }) => schema) },
      value: parts.map(({ value }) => value),
    };
  });
  const map = fc.tuple(inner, other).map(([one, beside]): Sample => {
    return {
      schema: { type: 'object', properties: { note: beside.schema }, additionalProperties: one.schema },
      value: { note: beside.value, k1: one.value, 'k 2': one.value },
    };
  });
  const like = fc.tuple(inner, other, likeNames).map(([one, beside, [pattern, names]]): Sample => {
    return {
      schema: { type: 'object', patternProperties: { [pattern]: one.schema }, additionalProperties: beside.schema },
      value: { ...Object.fromEntries(names.map((key) => [key, one.value])), zzz: beside.value } as JsonObject,
    };
  });
  const either = fc.tuple(inner, inner, fc.boolean()).map(([one, two, isFirst]): Sample => {
    const kinds = [one, two].map(({ schema }, at) => ({
      type: 'object',
      properties: { kind: { const: `k${at}` }, [`of${at}`]: schema },
      required: ['kind'],
    }));
    const value = isFirst ? { kind: 'k0', of0: one.value } : { kind: 'k1', of1: two.value };
    return { schema: { oneOf: kinds }, value };
  });
  const optional = inner.map(({ schema, value }): Sample => ({ schema: { anyOf: [schema, { type: 'null' }] }, value }));
  return {
    sample: fc.oneof(
      { maxDepth: 4, depthSize: 'small' },
      { arbitrary: file, weight: 3 },
      fc.constant(page),
      other,
      properties,
      list,
      tuple,
      map,
      like,
      either,
      optional,
    ),
  };
});

const tool = fc
  .dictionary(name, sample, { minKeys: 1, maxKeys: 3, noNullPrototype: true })
  .map((members): { inputSchema: JsonObject; args: JsonObject } => {
    const entries = Object.entries(members);
    const properties = Object.fromEntries(entries.map(([key, { schema }]) => [key, schema]));
    const args = Object.fromEntries(entries.map(([key, { value }]) => [key, value]));
    return {
      inputSchema: { $id: 'x:tool', type: 'object', properties, $defs: DEFS } as JsonObject,
      args: args as JsonObject,
    };
  });

/** The places of a text in a value. */
function placesOf(text: string, value: JsonValue, path: readonly (string | number)[] = []): string[] {
  if (value === text) return [JSON.stringify(path)];
  if (typeof value !== 'object' || value === null) return [];
  const inner = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return inner.flatMap(([key, one]) => placesOf(text, one as JsonValue, [...path, key]));
}

function isValid(schema: JsonObject, value: JsonValue): boolean {
  const ajv = new Ajv2020({ strict: false, logger: false });
  (addFormats as unknown as (one: Ajv2020) => void)(ajv);
  return ajv.compile(schema)(value) as boolean;
}

it('each file of a call is found where its schema has one, and nothing else', () => {
  let files = 0;
  fc.assert(
    fc.property(tool, ({ inputSchema, args }) => {
      expect(isValid(inputSchema, args)).toBe(true);
      const { facts } = readTool({ name: 'take', inputSchema }, { settings: {}, dialects });
      const found = facts.slots.flatMap((slot) => [...valuesIn(args, slot)]);
      expect(
        found
          .filter(({ value }) => value === FILE)
          .map(({ path }) => JSON.stringify(path))
          .sort(),
      ).toEqual([...new Set(placesOf(FILE, args))].sort());
      expect(found.filter(({ value }) => value !== FILE && value !== null)).toEqual([]);
      files += found.length;
    }),
    { numRuns: runs(150, 60) },
  );
  // it is no proof if nothing is ever found
  expect(files).toBeGreaterThan(50);
});

it('a tool as clients see it takes a handle in the place of each file', () => {
  fc.assert(
    fc.property(tool, ({ inputSchema, args }) => {
      const declared = { name: 'take', inputSchema };
      const patches = show(readTool(declared, { settings: {}, dialects }), readerOf(CLIENT, dialects), VIEW);
      const text = Buffer.from(JSON.stringify(declared));
      const shown = JSON.parse(patchText(text, patches).toString('utf8')) as { inputSchema: JsonObject };
      const handed = JSON.parse(JSON.stringify(args).replaceAll(FILE, HANDLE)) as JsonObject;
      expect(isValid(shown.inputSchema, handed)).toBe(true);
    }),
    { numRuns: runs(150, 60) },
  );
});
