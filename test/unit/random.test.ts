import { describe, expect, it } from '@jest/globals';
import { randomBytes } from '../../gateway/random.js';

describe('random bytes for names and secrets', () => {
  it('are as many as were asked for, and never the same, over several draws', () => {
    const given = Array.from({ length: 2000 }, (_, at) => randomBytes(16 + (at % 17)));
    expect(given.filter(({ length }, at) => length !== 16 + (at % 17))).toEqual([]);
    const beginnings = given.map((bytes) => bytes.toString('hex', 0, 8));
    expect(new Set(beginnings).size).toBe(given.length);
    const ends = given.map((bytes) => bytes.toString('hex', bytes.length - 8));
    expect(new Set([...beginnings, ...ends]).size).toBe(2 * given.length);
  });

  it('stay as they are when others are given out', () => {
    const first = randomBytes(32);
    const before = Buffer.from(first);
    for (let drawn = 0; drawn < 3 * 4096; drawn += 32) randomBytes(32);
    expect(first.equals(before)).toBe(true);
  });

  it('are as many as are drawn at once, and no more', () => {
    expect(randomBytes(4096)).toHaveLength(4096);
    expect(() => randomBytes(4097)).toThrow(RangeError);
  });
});
