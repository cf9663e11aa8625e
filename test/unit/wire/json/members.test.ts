import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { endOfContainer, endOfString } from '../../../../gateway/wire/json/members.js';
import { runs, seed } from '../../../helpers/effort.js';

/** Read byte by byte, as the grammar says. */
function byTheGrammar(text: Buffer, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === 0x22) return at;
    if (text[at] === 0x5c) at++;
  }
  return text.length;
}

describe('the end of a string', () => {
  it.each<[string, string, number]>([
    ['that is empty', '""', 1],
    ['that is short', '"ab"', 3],
    ['whose end is missing', '"ab', 3],
    ['whose escape is broken off', '"ab\\', 4],
    ['of a hundred characters', `"${'n'.repeat(100)}"`, 101],
    ['of a hundred characters, whose end is missing', `"${'n'.repeat(100)}`, 101],
    ['of a hundred characters, whose escape is broken off', `"${'n'.repeat(100)}\\`, 102],
    ['with an escaped quote far from its beginning', `"${'n'.repeat(100)}\\"n"`, 104],
    ['that ends with an escaped backslash far from its beginning', `"${'n'.repeat(100)}\\\\"`, 103],
    ['of backslashes', `"${'\\'.repeat(1000)}"`, 1001],
    ['of backslashes before an escaped quote', `"${'\\'.repeat(1001)}"n"`, 1004],
    ['of escaped quotes', `"${'\\"'.repeat(1000)}"`, 2001],
  ])('%s', (_what, text, end) => {
    expect(endOfString(Buffer.from(text), 0)).toBe(end);
    expect(endOfString(Buffer.from(`[${text}`), 1)).toBe(end + 1);
  });

  it('is found wherever quotes and backslashes stand', () => {
    const part = fc.oneof(
      fc.constantFrom('\\', '\\\\', '"', '\\"', 'é', 'n'),
      fc.integer({ min: 1, max: 150 }).map((length) => 'n'.repeat(length)),
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
        const text = Buffer.from(`"${parts.join('')}`);
        expect(endOfString(text, 0)).toBe(byTheGrammar(text, 0));
      }),
      { numRuns: runs(2000), seed: seed(2_026_1129) },
    );
  });
});

it('brackets in a long string do not end the array around it', () => {
  const text = `["${'n'.repeat(100)}]}\\"]"]`;
  expect(endOfContainer(Buffer.from(`${text},1`), 0)).toBe(text.length);
});
