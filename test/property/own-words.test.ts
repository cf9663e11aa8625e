import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { JsonValue } from '../../gateway/ports/json.js';
import { blankOwnWords, maySpeakForWharf } from '../../gateway/relay/upstream/own-words.js';
import { parseJson } from '../../gateway/wire/json/parse.js';
import { runs } from '../helpers/effort.js';

const HOLDERS = ['_meta', 'extensions', 'experimental'];
const key = fc.oneof(
  fc.constantFrom(
    ...HOLDERS,
    'dev.wharf/files',
    'dev.wharf/',
    'DEV.WHARF/x',
    'dev.wharf',
    'dev.wharfs/x',
    'a',
    '"',
    '\\',
  ),
  fc.string({ maxLength: 4 }),
);
const { value } = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    fc.constantFrom(null, true, 1e21, '', '}],', '"_meta"', 'dev.wharf/files'),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(key, tie('value'), { maxKeys: 5, noNullPrototype: true }),
  ),
}));

/** As it is to be, by the value. */
function without(json: JsonValue, isHolder = false): JsonValue {
  if (Array.isArray(json)) return json.map((item) => without(item));
  if (typeof json !== 'object' || json === null) return json;
  const left = Object.entries(json).filter(([name]) => !isHolder || !/^dev\.wharf\//i.test(name));
  return Object.fromEntries(left.map(([name, inner]) => [name, without(inner, HOLDERS.includes(name))]));
}

/** JSON with or without escapes for the letters of keys, and with blanks. */
function spelled(json: JsonValue, escapes: boolean, blank: string): string {
  if (Array.isArray(json)) return `[${json.map((item) => blank + spelled(item, escapes, blank)).join(',')}${blank}]`;
  if (typeof json !== 'object' || json === null) return JSON.stringify(json);
  const nameOf = (name: string) => {
    const text = JSON.stringify(name);
    return escapes && !text.includes('\\')
      ? text.replace(/[a-z]/gi, (c) => `\\u00${c.charCodeAt(0).toString(16)}`)
      : text;
  };
  const members = Object.entries(json).map(
    ([name, inner]) => `${blank}${nameOf(name)}${blank}:${blank}${spelled(inner, escapes, blank)}${blank}`,
  );
  return `{${members.join(',')}}`;
}

it('whatever a server says in Wharf’s name is blanked, all else stays, and it stays JSON', () => {
  fc.assert(
    fc.property(value, fc.boolean(), fc.constantFrom('', ' \n'), (json, escapes, blank) => {
      const text = spelled(json, escapes, blank);
      const bytes = Buffer.from(text);
      const mayBe = maySpeakForWharf([bytes]);
      const blanked = [...blankOwnWords(bytes)].flat();
      expect(parseJson(bytes.toString())).toEqual(without(json));
      expect(bytes).toHaveLength(Buffer.byteLength(text));
      // the cheap look misses nothing
      expect(mayBe || blanked.length === 0).toBe(true);
    }),
    { numRuns: runs(3000) },
  );
});

it.each([
  ['a short key', '_meta\\u0000x'],
  ['a long key', `_meta\\u0000${'x'.repeat(2000)}`],
  ['a long key with escapes', `\\u005fmeta\\u0000${'\\u0078'.repeat(400_000)}`],
])('is blanked where a reader in C ends the name of a holder before a NUL: %s', (_, name) => {
  const bytes = Buffer.from(`{"result":{"${name}":{"dev.wharf/files":[1],"a":2}}}`);
  expect([...blankOwnWords(bytes)].flat()).toHaveLength(1);
  expect(bytes.toString()).not.toContain('dev.wharf');
});

it.each([
  ['a backslash before the letters of a NUL', '_meta\\\\u0000'],
  ['a backslash before a NUL', '_meta\\\\\\u0000'],
  ['another name before a NUL', '_metal\\u0000'],
  ['nothing before a NUL', '\\u0000_meta\\u0000'],
  ['no NUL', '_meta'],
])('stays under a long key that no reader takes for a holder: %s', (_, name) => {
  const text = `{"result":{"${name}${'x'.repeat(2000)}":{"dev.wharf/files":[1],"a":2}}}`;
  const bytes = Buffer.from(text);
  expect([...blankOwnWords(bytes)].flat()).toEqual([]);
  expect(bytes.toString()).toBe(text);
});

it('megabytes of it cost no more than looking at them', () => {
  const member = '"dev.wharf/files":{"a":[1,2]}';
  const many = Buffer.from(`{"_meta":{${Array(300_000).fill(member).join(',')}}}`);
  const before = process.cpuUsage();
  expect([...blankOwnWords(many)].flat()).toHaveLength(300_000);
  const { user, system } = process.cpuUsage(before);
  expect(JSON.parse(many.toString())).toEqual({ _meta: {} });
  expect((user + system) / 1000).toBeLessThan(2000);
});
