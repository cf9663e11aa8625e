import { describe, expect, it } from '@jest/globals';
import { QuietMemory } from '../../../gateway/budget/quiet-memory.js';

/** Looks after each of these pieces of work, in milliseconds. @returns at which of them memory was given back */
function lookAfter(...works: number[]): number[] {
  return givenAfter(...works).map(({ look }) => look);
}

/** The same, with what was taken for the cause. */
function givenAfter(...works: number[]): { look: number; left: string }[] {
  let spent = 0;
  const given: { look: number; left: string }[] = [];
  let looks = 0;
  const memory = new QuietMemory({
    spent: () => spent,
    giveBack: (left) => {
      given.push({ look: looks, left });
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

/** The start, after which memory was given back once. */
const START = [300, 0, 0] as const;

describe('a process that has started', () => {
  it('gives back what its start has left after two quiet looks', () => {
    expect(lookAfter(300, 0, 0, 0, 0)).toEqual([3]);
  });
});

describe('a process that has worked', () => {
  it('gives back memory once it has been quiet for two looks', () => {
    expect(lookAfter(...START, 1200, 0, 0, 0, 0, 0, 0, 0)).toEqual([3, 6]);
  });

  it('gives back nothing while it works', () => {
    expect(lookAfter(300, 300, 160, 60, 300, 60)).toEqual([]);
    expect(lookAfter(...START, 1200, 0, 1200, 0, 1200, 0, 1200)).toEqual([3]);
  });

  it('gives back again only after more work, for which its own giving back does not count', () => {
    expect(lookAfter(...START, 900, 0, 0, 0, 0, 0, 50, 0, 0, 0, 0)).toEqual([3]);
    expect(lookAfter(...START, 900, 0, 0, 0, 0, 0, 100, 0, 0, 0, 0)).toEqual([3, 10]);
  });

  it('gives back at last what many small works have left', () => {
    expect(lookAfter(...START, ...Array.from({ length: 30 }, () => 70))).toEqual([3, 18, 33]);
  });
});

describe('what is given back', () => {
  it('is what the start has left, and later what calls have left', () => {
    expect(givenAfter(...START, 1200, 0, 0).map(({ left }) => left)).toEqual(['by the start', 'by calls']);
  });

  it('is what calls have left where they came before the first pause, whose compiled code is to be kept', () => {
    expect(givenAfter(300, 800, 0, 0)).toEqual([{ look: 4, left: 'by calls' }]);
  });
});
