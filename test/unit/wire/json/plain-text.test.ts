import { expect, it } from '@jest/globals';
import { plainText } from '../../../../gateway/wire/json/plain-text.js';

it.each([
  ['"a"', '"a"'],
  ['"notifications\\/progress"', '"notifications/progress"'],
  ['"\\u00e9 \\u0041 é"', '"é A é"'],
  ['"\\"\\\\\\n"', '"\\"\\\\\\n"'],
  ['"\\ud83d\\ude00 \\ud83d"', '"\u{1f600} \\ud83d"'],
  ['1', '1'],
  ['1.0', '1'],
  ['-0', '0'],
  ['1e2', '100'],
  ['1.5', '1.5'],
  ['2.50', '2.5'],
  ['25e-1', '2.5'],
  ['1.5e300', '1.5e+300'],
  ['1e-07', '1e-7'],
  ['12345678901234567890', '12345678901234567890'],
  ['1e400', '1e400'],
  ['null', 'null'],
  ['true', 'true'],
])('%s is spelled %s', (json, plain) => expect(plainText(json)).toBe(plain));
