import { describe, expect, it } from '@jest/globals';
import { Patterns } from '../../../gateway/schema/pattern.js';

/** What a pattern is found to do, and in how many steps. */
function tried(pattern: string, text: string, most = Number.POSITIVE_INFINITY) {
  let steps = 0;
  const patterns = new Patterns((more) => {
    steps += more;
    return steps <= most;
  });
  return { found: patterns.has(pattern, text), steps };
}

const LONG = 'a'.repeat(20_000);

describe('a pattern that keeps engines busy for seconds, or for ever, on some texts', () => {
  it.each([
    ['a repetition in a repetition', '^(a+)+$', `${'a'.repeat(5000)}b`, false],
    ['two ways to read a character', '^(a|a)*$', `${'a'.repeat(5000)}b`, false],
    ['a word of two repetitions', '^(([a-z])+.)+[A-Z]([a-z])+$', 'a'.repeat(5000), false],
    ['neighbouring repetitions', '^a*a*a*a*a*b', 'a'.repeat(5000), false],
    ['a search from each place', 'a+b', LONG, false],
    ['hundreds of optional parts', `^${'.?'.repeat(480)}q`, 'a'.repeat(200), false],
    ['nested numbers', '^(?:(?:a{0,9}){0,9}){0,9}$', 'a'.repeat(729), true],
  ])('is decided: %s', (_, pattern, text, found) => {
    const told = tried(pattern, text);
    expect(told.found).toBe(found);
    expect(told.steps).toBeLessThan(1_100_000);
  });

  it.each([
    ['numbers multiplied', '(?:(?:(?:a{1000}){1000}){1000}){1000}'],
    ['numbers of nothing, multiplied', '(?:(?:(?:(?:){1000}){1000}){1000}){1000}'],
    ['a number in many places', 'a{1000}'.repeat(30)],
    ['a number of millions', '^.{0,999999999}$'],
    ['too many characters', 'a'.repeat(1001)],
  ])('is not tried: %s', (_, pattern) => {
    const told = tried(pattern, LONG);
    expect(told.found).toBeUndefined();
    expect(told.steps).toBeLessThan(100_000);
  });

  it('is given up on a text that takes too long', () => {
    const told = tried('a{1000}b', LONG);
    expect(told.found).toBeUndefined();
    expect(told.steps).toBeLessThan(1_100_000);
  });

  it.each([
    ['to read', 'a'.repeat(900)],
    ['for its properties of Unicode', '\\p{L}'],
    [
      'for its classes',
      Array.from({ length: 100 }, (_, index) => `[a${String.fromCodePoint(0x4e00 + index)}]`).join(''),
    ],
    ['to write', 'a{900}'],
    ['to run', 'a+b'],
  ])('is left where the budget is spent: %s', (_, pattern) => {
    expect(tried(pattern, LONG, 10_000).found).toBeUndefined();
  });
});

describe('what a pattern means', () => {
  it.each([
    ['a pair of surrogates is one character, in whatever spelling', '^\\ud83d\\ude00{2}$', '😀😀', true],
    ['a half of a pair is none', '\\ud83d', '😀', false],
    ['a bracket as a member of a class', '^[\\]a]+$', ']a]', true],
    ['blanks are those of Unicode', '^\\s$', '\u00a0', true],
    ['a line break is no character of a line', '^.$', '\u2028', false],
    ['the end is that of the text, not of a line', 'a$', 'a\n', false],
    ['a look ahead decides nothing where it matters', '^(?=a).$', 'a', undefined],
    ['but not where the rest fails', '^(?=a)b$', 'c', false],
    ['nor where another branch matches', '(?=a)b|c', 'c', true],
    ['a reference may be anything', '^(a)\\1b$', 'aab', undefined],
    ['and is not, where the rest fails', '^(a)\\1b$', 'aac', false],
    ['a reference of two digits is one', `^${'(a)'.repeat(10)}\\10b$`, 'aaaaaaaaaaab', undefined],
    ['a reference by name has no more to it', '^(?<n>a)\\k<n>b$', 'aab', undefined],
    ['a property that does not exist', '\\p{Nothing}', 'a', undefined],
    ['a class in the wrong order', '[z-a]', 'a', undefined],
    ['two groups of one name', '(?<n>a)(?<n>b)', 'ab', undefined],
    ['flags in the pattern', '(?i)a', 'A', undefined],
    ['classes of other engines', '[[:alpha:]', 'a', true],
  ])('%s', (_, pattern, text, found) => {
    expect(tried(pattern, text).found).toBe(found);
  });
});
