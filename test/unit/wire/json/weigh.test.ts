import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { weigh } from '../../../../gateway/wire/json/weigh.js';
import { runs } from '../../../helpers/effort.js';

const depthOf = (value: unknown): number =>
  typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;
/** Each member and item, and each array and object. */
const valuesOf = (value: unknown): number => {
  if (typeof value !== 'object' || value === null) return 0;
  const inner = Object.values(value);
  return 1 + Math.max(0, inner.length - 1) + inner.reduce<number>((sum, one) => sum + valuesOf(one), 0);
};

describe('the weight of a JSON text', () => {
  it('is told by its values and its depth, whatever its strings hold', () => {
    fc.assert(
      fc.property(
        fc.json({ maxDepth: 6 }),
        fc.integer({ min: 1, max: 8 }),
        fc.integer({ min: 1, max: 20 }),
        (json, depth, values) => {
          const value: unknown = JSON.parse(json);
          const weight = weigh(Buffer.from(json), { depth, values });
          const isHeavy = valuesOf(value) + 1 > values;
          const isDeep = depthOf(value) > depth;
          // which of them is seen first does not matter
          if (isHeavy && isDeep) expect(weight).not.toBe('light');
          else expect(weight).toBe(isDeep ? 'deep' : isHeavy ? 'heavy' : 'light');
        },
      ),
      { numRuns: runs(5000) },
    );
  });

  it.each([
    ['quotes', '\\"'],
    ['backslashes', '\\\\'],
    ['quotes far from each other', `\\"${'x'.repeat(100)}`],
    ['unicode escapes', '\\u0022'],
  ])('is not told by what stands in a string: %s', (_, inner) => {
    const text = Buffer.from(`["${inner.repeat(3000)}[[[[,,,,","${inner}",1]`);
    expect(weigh(text, { depth: 1, values: 4 })).toBe('light');
    expect(weigh(text, { depth: 1, values: 3 })).toBe('heavy');
  });

  it.each([
    ['that ends', '"'],
    ['that does not', ''],
  ])('of a string with a million lines, %s, is found in one pass', (_, end) => {
    const text = Buffer.from(`["${`${'a'.repeat(70)}\\n`.repeat(1_000_000)}${end}]`);
    // a search for its end from each line took minutes
    expect(weigh(text, { depth: 1000, values: 1000 })).toBe('light');
  });

  it.each([
    ['without a backslash', (at: number) => `"key-${at}"`],
    ['with a quote in each', () => '"\\""'],
  ])('of a million strings %s is found in one pass', (_, string) => {
    const text = Buffer.from(`[${Array.from({ length: 1_000_000 }, (_value, at) => string(at)).join()}]`);
    const before = process.cpuUsage();
    expect(weigh(text, { depth: 1000, values: 2_000_000 })).toBe('light');
    const { user, system } = process.cpuUsage(before);
    // a search through the whole text for each string took minutes
    expect((user + system) / 1000).toBeLessThan(5000);
  });
});
