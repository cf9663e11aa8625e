import fc from 'fast-check';

const HALVES = { first: 0xd800, count: 0x800 };
const LAST = 0x10_ffff;

const codePoint = fc
  .oneof({ weight: 2, arbitrary: fc.nat(0x7f) }, { weight: 2, arbitrary: fc.nat(LAST - HALVES.count) })
  .map((number) => (number < HALVES.first ? number : number + HALVES.count));

/**
 * Text of any characters, without halves of surrogate pairs. fast-check's `unit: 'binary'` makes the same, but each use
 * of it first makes a map of all 1,112,064 characters: 60 MB and most of a second.
 */
export const anyText = (constraints: { maxLength?: number } = {}): fc.Arbitrary<string> =>
  fc.array(codePoint, constraints).map((codes) => String.fromCodePoint(...codes));
