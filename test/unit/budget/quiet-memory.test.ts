import { describe, expect, it } from '@jest/globals';
import { QuietMemory } from '../../../gateway/budget/quiet-memory.js';

/** Looks after each of these pieces of work, in milliseconds. @returns before how many of them memory was given back */
function lookAfter(...works: number[]): number[] {
  let spent = 0;
  const given: number[] = [];
  let looks = 0;
  const memory = new QuietMemory({
    spent: () => spent,
    giveBack: () => {
      given.push(looks);
      // which is work too
      spent += 80;
    },
  });
  for (const work of works) {
    spent += work;
    looks += 1;
    memory.look();
  }
  return given;
}

describe('a process that has worked', () => {
  it('gives back memory once it has been quiet for two looks', () => {
    expect(lookAfter(300, 0, 0, 0, 0)).toEqual([3]);
  });

  it('gives back nothing while it works', () => {
    expect(lookAfter(300, 300, 160, 60, 300, 60)).toEqual([]);
  });

  it('gives back again only after more work, for which its own giving back does not count', () => {
    expect(lookAfter(300, 0, 0, 0, 0, 0, 0, 300, 0, 0, 0, 0)).toEqual([3, 10]);
    expect(lookAfter(300, 0, 0, 10, 10, 10, 10)).toEqual([3]);
  });

  it('gives back at last what many small works have left', () => {
    expect(lookAfter(...Array.from({ length: 20 }, () => 70))).toEqual([4, 8, 12, 16, 20]);
  });
});
