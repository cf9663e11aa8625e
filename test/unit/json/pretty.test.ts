import { describe, expect, it } from '@jest/globals';
import { prettyJson } from '../../../gateway/json/pretty.js';
import { jsonIn } from '../../../gateway/json/text.js';
import type { JsonValue } from '../../../gateway/ports/json.js';

describe('a value as text for people', () => {
  it.each<[JsonValue]>([[null], [1.5], ['"é\n'], [[]], [{}], [[1, [2, {}], { a: [true], b: 'c' }]]])(
    'is written as JSON.stringify indents it: %j',
    (value) => {
      expect(prettyJson(value, 1000)).toEqual({ text: JSON.stringify(value, null, 2), isCut: false });
    },
  );

  it('hides and turns around nothing', () => {
    const { text } = prettyJson({ 'a\u202eb': 'c\u2066\u0085' }, 1000);
    expect(text).toBe('{\n  "a\\u202eb": "c\\u2066\\u0085"\n}');
  });

  it('has as many characters as it may, however large or deep the value is', () => {
    let deep: JsonValue = 'end';
    for (let level = 0; level < 5000; level++) deep = [deep];
    for (const value of [Array(100_000).fill('x'), 'x'.repeat(100_000), deep] as JsonValue[]) {
      const { text, isCut } = prettyJson(value, 10_000);
      expect([text.length <= 10_000, isCut]).toEqual([true, true]);
    }
  });
});

describe('a text as JSON', () => {
  it('is a value, or nothing', () => {
    expect(jsonIn(' {"a": [1, "[[["]} ')).toEqual({ a: [1, '[[['] });
    for (const text of ['', '{', 'a', '{"a": 1,}', `${'['.repeat(300)}${']'.repeat(300)}`])
      expect(jsonIn(text)).toBeUndefined();
  });

  it('has a member of any name', () => {
    expect(Object.keys(jsonIn('{"__proto__": 1, "n\\u0061me": 2}') as object)).toEqual(['__proto__', 'name']);
  });
});
