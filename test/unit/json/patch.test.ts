import { describe, expect, it } from '@jest/globals';
import { patchText, patchValue } from '../../../gateway/json/patch.js';
import type { JsonObject, JsonPatch } from '../../../gateway/ports/json.js';

/** A tool with a number that no JavaScript number is, and file arguments. */
const BEFORE =
  '{"big": 1e400, "name":"t",\n "_meta":{"a":1}, "inputSchema":{"properties":{' +
  `${Array.from({ length: 20 }, (_, index) => `"p${index}": {"type":"string"}`).join(', ')}, "n": 12345678901234567890}}}`;

const patches: JsonPatch[] = [
  ...Array.from({ length: 20 }, (_, index): JsonPatch[] => [
    { path: ['inputSchema', 'properties', `p${index}`, 'format'], value: 'uri' },
    { path: ['inputSchema', 'properties', `p${index}`, 'x'], value: { y: {} } },
    { path: ['inputSchema', 'properties', `p${index}`, 'x', 'y', 'z'], value: index },
    { path: ['inputSchema', 'properties', `p${index}`, 'type'], value: undefined },
  ]).flat(),
  { path: ['inputFiles'], value: { p1: {} } },
  { path: ['inputFiles', 'p2'], value: {} },
  { path: ['_meta', 'b'], value: 2 },
  { path: ['new', 'deep'], value: true },
  { path: ['name'], value: undefined },
];

describe('patches of a JSON text', () => {
  it('many at once give what one after the other gives', () => {
    const one = patches.reduce<Buffer>((text, patch) => patchText(text, [patch]), Buffer.from(BEFORE));
    const all = patchText(Buffer.from(BEFORE), patches);
    expect(JSON.parse(all.toString())).toEqual(JSON.parse(one.toString()));
    expect(JSON.parse(all.toString())).toEqual(patchValue(JSON.parse(BEFORE) as JsonObject, patches));
    expect(all.toString()).toContain('"big": 1e400');
  });

  it('many at once leave alone what is in no object that they change', () => {
    const changes = patches.filter(({ path, value }) => value !== undefined && path[0] === 'inputSchema');
    const text = patchText(Buffer.from(BEFORE), changes).toString();
    expect(text.startsWith('{"big": 1e400, "name":"t",\n "_meta":{"a":1}, "inputSchema":{"properties":{"p0": {')).toBe(
      true,
    );
    expect(text.endsWith(', "n": 12345678901234567890}}}')).toBe(true);
  });

  it.each([
    ['the only one', '{"a":1}', '{}'],
    ['the first', '{ "a" : 1e400 , "b": 2}', '{  "b": 2}'],
    ['the last', '{"b": 2 , "a": [1, "}"] }', '{"b": 2  }'],
    ['one between', '{"b":"\\"a\\":",\n"a":{"a":2},"c":3}', '{"b":"\\"a\\":",\n"c":3}'],
    ['one that came twice', '{"a":1,"b":2,"a":3}', '{"b":2}'],
    ['one spelled otherwise', '{"\\u0061":1,"b":2}', '{"b":2}'],
    ['one that is not there', '{"b":{"a":1}}', '{"b":{"a":1}}'],
  ])('a member that is removed leaves every other byte: %s', (_what, before, after) => {
    expect(patchText(Buffer.from(before), [{ path: ['a'], value: undefined }]).toString()).toBe(after);
  });

  it('keys with quotes and backslashes are found to their beginning', () => {
    const key = 'say "a" \\';
    const text = `{"x":"y",${JSON.stringify(key)}:1}`;
    expect(patchText(Buffer.from(text), [{ path: [key], value: undefined }]).toString()).toBe('{"x":"y"}');
  });
});
