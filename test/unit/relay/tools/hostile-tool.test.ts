import { describe, expect, it } from '@jest/globals';
import { adapters } from '../../../../adapters/index.js';
import { JsonDocument } from '../../../../gateway/json/document.js';
import { patchText } from '../../../../gateway/json/patch.js';
import { DEFAULT_LIMITS } from '../../../../gateway/policy/limits.js';
import type { JsonObject, JsonValue } from '../../../../gateway/ports/json.js';
import { valuesIn } from '../../../../gateway/relay/tools/file-slots.js';
import { readerOf } from '../../../../gateway/relay/tools/reader.js';
import { show } from '../../../../gateway/relay/tools/show.js';
import { UnknownMethods } from '../../../../gateway/relay/upstream/unknown-methods.js';
import { placeOf } from '../../../../gateway/schema/place.js';
import { readTool } from '../../../../gateway/tools/tool.js';

const { dialects } = adapters;
const CLIENT = { protocolVersion: '2025-06-18', capabilities: {} };
const unknownMethods = new UnknownMethods();
const VIEW = { server: 's', limits: DEFAULT_LIMITS, accepts: 4e6, dialects, uploadTool: 'upload', unknownMethods };
const READING = { settings: {}, dialects };
const MANY = 4000;

const toolOf = (inputSchema: JsonObject): JsonObject => ({ name: 'take', inputSchema });

/** Tools that would stop everybody's work for minutes or for ever if their cost were not bounded. */
describe('a hostile tool', () => {
  it('whose unions all lead back to themselves has no file arguments that could be counted', () => {
    const back = { $ref: '#/$defs/n' };
    const schema = {
      type: 'object',
      properties: { a: back },
      $defs: { n: { anyOf: Array<JsonValue>(30).fill(back) } },
    };
    expect(readTool(toolOf(schema), READING).facts.slots).toEqual([]);
  });

  it('with thousands of file arguments is shown whole, its first hundred as handles', () => {
    const argument = { type: 'string', format: 'uri', 'x-mcp-file': {}, minLength: 3 };
    const properties = Object.fromEntries(Array.from({ length: MANY }, (_, index) => [`p${index}`, argument]));
    const tool = toolOf({ type: 'object', properties });
    const patches = show(readTool(tool, READING), readerOf(CLIENT, dialects), VIEW);
    const shown = JSON.parse(patchText(Buffer.from(JSON.stringify(tool)), patches).toString()) as JsonObject;
    const seen = Object.values((shown.inputSchema as { properties: Record<string, JsonObject> }).properties);
    expect(seen).toHaveLength(MANY);
    expect(seen.filter(({ description }) => /handle/.test(String(description)))).toHaveLength(100);
  });

  it('whose pattern takes an engine long on long names is tried on them, on thousands for some milliseconds, and on the next call', () => {
    const items = { patternProperties: { '^[a-z]*[a-z]*[a-z]*0': { type: 'string', contentEncoding: 'base64' } } };
    const [slot] = readTool(toolOf({ type: 'object', properties: { list: { items } } }), READING).facts.slots;
    if (!slot) throw new Error('it has no file argument');
    const files = (list: JsonValue) => [...valuesIn({ list }, slot)].map(({ path }) => path.at(-1));
    const object = { ['a'.repeat(68)]: 'x', a0: 'x' };
    expect(files(Array(100).fill(object))).toEqual(Array(100).fill('a0'));
    const { length } = files(Array(MANY).fill(object));
    expect([length > 100, length < MANY / 2]).toEqual([true, true]);
    expect(files([{ a0: 'x' }])).toEqual(['a0']);
  });

  it('whose arguments all refer to one huge schema is not copied for each of them', () => {
    const $defs = { big: { type: 'string', description: 'x'.repeat(200_000) }, small: { type: 'string' } };
    const tool = toolOf({ properties: { a: { $ref: '#/$defs/big' }, b: { $ref: '#/$defs/small' } }, $defs });
    expect(placeOf(tool, ['a'])).toBeUndefined();
    expect(placeOf(tool, ['b'])?.copies).toHaveLength(1);
  });
});

describe('a hostile call', () => {
  it('with a million items keeps nothing of those that are not looked for', () => {
    const items = 1_000_000;
    const text = Buffer.from(`{"list":[${'1,'.repeat(items - 1)}2]}`);
    const document = JsonDocument.of(text).find([['list', items - 1]]);
    expect(document.at(['list', items - 1])).toMatchObject({ end: text.length - 2 });
    expect(document.at(['list', 0])).toBeUndefined();
  });

  it('with hundreds of thousands of keys beside the file is read once, not once for each key', () => {
    const keys = Array.from({ length: 300_000 }, (_, index) => `"key-${index}":1`).join();
    const text = Buffer.from(`{${keys},"file":"x"}`);
    expect(
      JsonDocument.of(text)
        .find([['file']])
        .at(['file']),
    ).toMatchObject({ end: text.length - 1 });
  });
});
