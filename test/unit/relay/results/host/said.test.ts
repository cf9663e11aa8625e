import { describe, expect, it } from '@jest/globals';
import { saysAll, withoutBytes } from '../../../../../gateway/relay/results/host/said.js';
import { parseExactly } from '../../../../../gateway/wire/json/parse.js';

const read = (json: string) => parseExactly(json) as Parameters<typeof saysAll>[1];

describe('texts say all of a structure', () => {
  it.each([
    ['as words', 'Chart c_1 has 12 points.', '{"chart":"c_1","points":12}'],
    ['as JSON', '{"name":"a \\"b\\""}', '{"name":"a \\"b\\""}'],
    ['as JSON of Python', '{"name": "Gr\\u00f6\\u00dfe"}', '{"name":"Größe"}'],
    ['with a number that no double holds', 'id 12345678901234567890', '{"id":12345678901234567890}'],
    ['but for what has no words', 'Done.', '{"ok":true,"left":null,"file":"","list":[{}]}'],
  ])('%s', (_how, text, json) => {
    expect(saysAll(['Done.', text], read(json))).toBe(true);
  });

  it.each([
    ['a name', 'Chart made.', '{"chart":"c_1"}'],
    ['the name of another', 'Chart c_12 made.', '{"chart":"c_1"}'],
    ['a number', '112 points and 123', '{"points":12}'],
    ['one deep in it', 'c_1', '{"charts":[{"id":"c_1"},{"id":"c_2"}]}'],
    ['more than may be looked for', 'a'.repeat(1_000_000), `{"a":"${'a'.repeat(1000)}"}`],
  ])('not %s', (_what, text, json) => {
    expect(saysAll([text], read(json))).toBe(false);
  });
});

it('bytes are left out of a structure, and numbers stay as they are spelled', () => {
  const bytes = Buffer.alloc(90, 'bytes').toString('base64');
  const value = read(`{"a":"${bytes}","b":["data:image/png;base64,${bytes}"],"n":1e400,"__proto__":"x"}`);
  expect(JSON.stringify(withoutBytes(value))).toBe('{"a":"","b":[""],"n":1e400,"__proto__":"x"}');
});
