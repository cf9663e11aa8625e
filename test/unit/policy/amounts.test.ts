import { describe, expect, it } from '@jest/globals';
import { contrast, mostText, shortfall, sizeText, timeText } from '../../../gateway/policy/amounts.js';

describe('sizes and times for people and models', () => {
  it.each([
    [0, '0 bytes'],
    [1, '1 byte'],
    [999, '999 bytes'],
    [1000, '1 kB'],
    [3_375_874, '3.4 MB'],
    [104_857_600, '104.9 MB'],
    [5_000_000_000, '5 GB'],
    [1e29, 'more than 9 PB'],
  ])('%i is %s', (bytes, text) => {
    expect(sizeText(bytes)).toBe(text);
  });

  it('a bound is never rounded up, so that a file of the size told fits', () => {
    for (const [bytes, text] of [
      [104_857_600, '104.8 MB'],
      [7_863_549, '7.8 MB'],
      [65_536, '65.5 kB'],
    ] as const)
      expect(mostText(bytes)).toBe(text);
  });

  it('a bound and what passes it by a byte are told apart', () => {
    expect(contrast(104_857_600, 104_857_601)).toEqual({ allowed: '104.8 MB', actual: '104.9 MB' });
    expect(contrast(1_048_576, 1_048_577)).toEqual({ allowed: '1048576 bytes', actual: '1048577 bytes' });
    expect(contrast(104_857_600, 999_999_999)).toEqual({ allowed: '104.8 MB', actual: '1000 MB' });
  });

  it('and so is a rate that is too low by a byte', () => {
    expect(shortfall(8192, 8191)).toEqual({ allowed: '8.2 kB', actual: '8.1 kB' });
    expect(shortfall(8240, 8239)).toEqual({ allowed: '8240 bytes', actual: '8239 bytes' });
  });

  it.each([
    [500, '500 ms'],
    [1500, '1.5 s'],
    [60_000, '1 min'],
    [86_400_000, '24 h'],
  ])('%i milliseconds are %s', (ms, text) => {
    expect(timeText(ms)).toBe(text);
  });
});
