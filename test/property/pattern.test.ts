import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Patterns } from '../../gateway/schema/pattern.js';
import { runs } from '../helpers/effort.js';

const PLAIN = ['a', 'b', '.', '[^a-z]', '\\d', '\\w', '\\s', '\\u0041', '\\p{L}', '^', '$', '[\\]]', '\\/', 'é', '😀'];
const OF_UNITS = ['\\ud83d\\ude00', '\\u{1F600}', '[😀b]', '\\uD83D', '[^]', '\\x61', '\\cA', '\\P{Lu}', '[\\p{Nd}_]'];
/** What is not told. */
const VAGUE = ['(?=a)', '(?!a)', '(?<=a)', '(?<!b)', '\\b', '\\B', '(a)\\1', '(?<n>b?)\\k<n>'];
const QUANTIFIERS = ['', '*', '+', '?', '{0,2}', '{2}', '{1,}', '*?', '{0}', '{0,1}?'];

function patternOf(atoms: readonly string[]): fc.Arbitrary<string> {
  const quantifier = fc.constantFrom(...QUANTIFIERS);
  const { pattern } = fc.letrec<{ pattern: string }>((tie) => ({
    pattern: fc.oneof(
      { maxDepth: 4 },
      fc.tuple(fc.constantFrom(...atoms), quantifier).map((parts) => parts.join('')),
      fc.tuple(tie('pattern'), tie('pattern')).map((parts) => parts.join('')),
      fc.tuple(tie('pattern'), tie('pattern')).map((parts) => parts.join('|')),
      fc.tuple(tie('pattern'), quantifier).map(([inner, times]) => `(?:${inner})${times}`),
    ),
  }));
  return pattern;
}

const text = fc.oneof(
  fc.constantFrom('', 'a', 'http://a.b/d/x', 'a\n', '\n'),
  fc
    .array(
      fc.constantFrom('a', 'b', 'A', '0', 'é', '😀', '\ud83d', '\ude00', '\n', '\u2028', '\u00a0', ' ', '\u0001'),
      {
        maxLength: 6,
      },
    )
    .map((chars) => chars.join('')),
);

function foundByEngine(source: string, within: string): boolean | undefined {
  try {
    return new RegExp(source, 'u').test(within);
  } catch {
    return undefined;
  }
}

it('a pattern is told as engines do it', () => {
  fc.assert(
    fc.property(patternOf([...PLAIN, ...OF_UNITS]), text, (source, within) => {
      const found = foundByEngine(source, within);
      const told = new Patterns(() => true).has(source, within);
      // what engines refuse, or this engine alone takes, is not told
      if (found === undefined || /\^[*+?{]|\$[*+?{]|\)\?[*+?]|[*+?}]\?[*+?]|\[\^\]/.test(source)) {
        expect(told === undefined || told === found).toBe(true);
      } else expect(told).toBe(found);
    }),
    { numRuns: runs(5000, 2000) },
  );
});

it('a pattern with parts that are not told is told as engines do it, or not at all', () => {
  fc.assert(
    fc.property(patternOf([...PLAIN, ...OF_UNITS, ...VAGUE, ...VAGUE]), text, (source, within) => {
      const told = new Patterns(() => true).has(source, within);
      expect(told === undefined || told === foundByEngine(source, within)).toBe(true);
    }),
    { numRuns: runs(5000, 2000) },
  );
});

it('takes a number of steps that grows no faster than pattern and text together', () => {
  fc.assert(
    fc.property(patternOf(PLAIN), fc.constantFrom('a', 'ab', '0', 'é '), (source, part) => {
      const stepsFor = (count: number) => {
        let steps = 0;
        const patterns = new Patterns((more) => {
          steps += more;
          return true;
        });
        patterns.has(source, '');
        const before = steps;
        patterns.has(source, part.repeat(count));
        return steps - before;
      };
      expect(stepsFor(400)).toBeLessThanOrEqual(2.2 * stepsFor(200) + 2000);
    }),
    { numRuns: runs(300, 100) },
  );
});
