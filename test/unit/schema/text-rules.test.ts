import { describe, expect, it } from '@jest/globals';
import { LongText } from '../../../gateway/schema/instance.js';
import { longEnough, shortEnough } from '../../../gateway/schema/text-rules.js';

/** A text that is not at hand, of which only bounds are known. */
const LONG = new LongText(100, 200);

describe('the least length of a text', () => {
  it.each([
    ['a text of as many characters', 'abc', 3, true],
    ['a longer one', 'abcd', 3, true],
    ['a shorter one', 'ab', 3, false],
    ['nothing', '', 0, true],
    // each is two units of UTF-16
    ['characters beyond the first plane, each of which is one', '😀😀😀', 3, true],
    ['two of them', '😀😀', 3, false],
    ['a text that has it in any case', LONG, 100, true],
    ['a text that cannot have it', LONG, 201, false],
    ['a text that may have it', LONG, 101, undefined],
    ['a text that has it only at its longest', LONG, 200, undefined],
    ['no number', 'abc', '3', undefined],
  ] as const)('judges %s', (_what, text, least, expected) => {
    expect(longEnough(text, least)).toBe(expected);
  });
});

describe('the most length of a text', () => {
  it.each([
    ['a text of as many characters', 'abc', 3, true],
    ['a longer one', 'abcd', 3, false],
    ['characters beyond the first plane, each of which is one', '😀😀😀', 3, true],
    ['a text that keeps to it in any case', LONG, 200, true],
    ['a text that cannot', LONG, 99, false],
    ['a text that may', LONG, 100, undefined],
    ['no number', 'abc', null, undefined],
  ] as const)('judges %s', (_what, text, most, expected) => {
    expect(shortEnough(text, most)).toBe(expected);
  });
});
