import { describe, expect, it } from '@jest/globals';
import { isInRange, isVersionRange } from '../../../gateway/hosts/version-range.js';

describe('a range of versions', () => {
  it.each([
    ['2.1.269', '>=2.1', true],
    ['2.1.269', '>=2.1 <2.1.270', true],
    ['2.1.269', '<2.1.269', false],
    ['2.1.269', '<=2.1.269', true],
    ['2.1.269', '>2.1.269', false],
    ['2.10.0', '>2.9', true],
    ['2', '=2.0.0', true],
    ['2.0.1', '2', false],
    ['v1.2.3', '>=1', true],
    ['0.154.0-alpha.2', '<=0.154', true],
    ['1.2.3.4', '>1.2.3', true],
    ['latest', '>=0', false],
    ['', '>=0', false],
    [undefined, '>=0', false],
  ])('%s in %s: %s', (version, range, expected) => {
    expect(isInRange(version, range)).toBe(expected);
  });

  it.each(['', ' ', '^1.2', '1.x', '>=', '>= 1', '>=1  <2', '1.2.3.4.5', '>=1 || <0'])('%j is none', (text) => {
    expect(isVersionRange(text)).toBe(false);
  });

  it.each(['1', '>=1.2 <2', '=0.154', '<=1.2.3.4'])('%s is one', (text) => {
    expect(isVersionRange(text)).toBe(true);
  });
});
