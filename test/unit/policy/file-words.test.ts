import { describe, expect, it } from '@jest/globals';
import { sentence } from '../../../gateway/policy/file-words.js';

describe("a text of a server's before others", () => {
  it.each([
    ['Your passport', 'Your passport.'],
    [' Which page? ', 'Which page?'],
    ['Please upload:', 'Please upload:'],
    ['请上传。', '请上传。'],
    ['  ', ''],
  ])('%j is the sentence %j', (text, expected) => {
    expect(sentence(text)).toBe(expected);
  });
});
