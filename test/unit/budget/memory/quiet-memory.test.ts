import { describe, expect, it } from '@jest/globals';
import { QuietMemory, YoungCollections } from '../../../../gateway/budget/memory/quiet-memory.js';

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

describe('the young generation of a process that has given back its memory', () => {
  /** Beats after each of these pieces of work, in milliseconds. @returns at which of them it was collected */
  function collectedAfter(...works: readonly (number | 'given back')[]): number[] {
    let spent = 0;
    let beats = 0;
    const collected: number[] = [];
    const young = new YoungCollections({
      spent: () => spent,
      collect: () => {
        collected.push(beats);
        spent += 130;
      },
    });
    young.begin();
    for (const work of works) {
      if (work === 'given back') {
        young.begin();
        continue;
      }
      spent += work;
      beats += 1;
      young.beat();
    }
    return collected;
  }

  it('is collected ten times, at each beat', () => {
    expect(collectedAfter(...Array.from({ length: 15 }, () => 10))).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  });

  it('is left to the calls that come meanwhile, and collected after them', () => {
    expect(collectedAfter(10, 900, 1400, 120, 0, 10, 300, 10)).toEqual([1, 5, 6, 8]);
  });

  it('is collected ten times anew when memory is given back once more', () => {
    const quiet = Array.from({ length: 12 }, () => 0);
    expect(collectedAfter(0, 0, 1400, 'given back', ...quiet)).toHaveLength(12);
  });

  it('needs no more beats once it was collected ten times', () => {
    const young = new YoungCollections({ spent: () => 0, collect: () => {} });
    young.begin();
    expect(Array.from({ length: 10 }, () => young.beat())).toEqual([...Array.from({ length: 9 }, () => true), false]);
    expect(young.beat()).toBe(false);
  });

  it('is told which collection is the first', () => {
    const firsts: boolean[] = [];
    const young = new YoungCollections({ spent: () => 0, collect: (first) => firsts.push(first) });
    young.begin();
    young.beat();
    young.beat();
    young.begin();
    young.beat();
    expect(firsts).toEqual([true, false, true]);
  });
});
