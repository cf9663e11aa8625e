import { describe, expect, it } from '@jest/globals';
import { jsonFault } from '../../../gateway/json/fault.js';

describe('what is wrong with a text that is not JSON', () => {
  it.each([
    ['', 'it is empty'],
    ['  \n', 'it holds no value'],
    ['{"a":1', 'the body ends inside a value at byte 6'],
    ['"abc', 'the body ends inside a value at byte 4'],
    ['["hunter2", pw]', 'no value where one is due at byte 12'],
    ['{"a":1}}', 'something follows its first value'],
    ['{"a":1} {"b":2}', 'something follows its first value'],
    ['\ufeff{}', 'it begins with a byte order mark'],
    ['[1,]', 'no value where one is due at byte 3'],
    ['"a\u0001"', 'raw control character in a string at byte 2'],
  ])('of %j: %s', (text, fault) => {
    expect(() => JSON.parse(text)).toThrow();
    expect(jsonFault(Buffer.from(text))).toBe(fault);
  });
});
