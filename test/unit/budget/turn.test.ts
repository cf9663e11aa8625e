import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { beginStep, breathe, isTurnOver, nextTurn } from '../../../gateway/budget/turn.js';
import type { Owner } from '../../../gateway/ports/owner.js';

const ANN = { principal: 'ann' };
const BOB = { principal: 'bob' };

let now = 0;
const work = (ms: number) => {
  now += ms;
};

beforeEach(async () => {
  now = performance.now();
  jest.spyOn(performance, 'now').mockImplementation(() => now);
  // long enough that nothing of the test before counts
  await nextTurn();
  await new Promise(setImmediate);
  work(10_000);
});
afterEach(() => {
  jest.restoreAllMocks();
});

describe('work that waits for a turn of the event loop', () => {
  it('goes on in turn for each caller, and in order of arrival for one caller', async () => {
    const went: string[] = [];
    const wait = async (name: string, principal?: string) => {
      await nextTurn({ principal });
      went.push(name);
    };
    await Promise.all([
      ...['ann 1', 'ann 2', 'ann 3', 'ann 4'].map((name) => wait(name, 'ann')),
      ...['bob 1', 'bob 2'].map((name) => wait(name, 'bob')),
      wait('of nobody known'),
    ]);
    expect(went).toEqual(['ann 1', 'of nobody known', 'bob 1', 'ann 2', 'bob 2', 'ann 3', 'ann 4']);
  });

  it('waits only where the turn has lasted long enough', async () => {
    await nextTurn(ANN);
    expect(breathe(ANN)).toBeUndefined();
    work(19);
    expect(isTurnOver()).toBe(false);
    work(1);
    expect(isTurnOver()).toBe(true);
    await expect(breathe(ANN)).resolves.toBeUndefined();
    expect(isTurnOver()).toBe(false);
  });
});

describe('callers who have work at the same time', () => {
  /** Work in steps, of which each waits for a turn. */
  const run = async (owner: Owner, { steps, ms }: { steps: number; ms: number }, did: () => void) => {
    for (let left = steps; left > 0; left--) {
      await nextTurn(owner);
      work(ms);
      did();
    }
  };

  it('each have a share of a turn, which is over for the one that has had it', () => {
    beginStep(BOB);
    beginStep(ANN);
    work(2);
    expect(isTurnOver()).toBe(true);
    beginStep(BOB);
    expect(isTurnOver()).toBe(false);
  });

  it('have all of a turn where no other has had work lately', async () => {
    beginStep(BOB);
    work(1);
    await new Promise(setImmediate);
    work(1000);
    beginStep(ANN);
    const isOver = [10, 15].map((ms) => {
      work(ms);
      return isTurnOver();
    });
    expect(isOver).toEqual([false, true]);
  });

  it('go on for as long as each other, however long their steps are, and however many of them wait', async () => {
    const took = { ann: 0, bob: 0 };
    const ann = Array.from({ length: 16 }, () =>
      run(ANN, { steps: 5, ms: 5 }, () => {
        took.ann += 5;
      }),
    );
    await run(BOB, { steps: 50, ms: 1 }, () => {
      took.bob += 1;
    });
    const annWhenBobEnds = took.ann;
    await Promise.all(ann);
    expect(took).toEqual({ ann: 400, bob: 50 });
    expect(annWhenBobEnds).toBeGreaterThanOrEqual(40);
    expect(annWhenBobEnds).toBeLessThanOrEqual(60);
  });

  it('get no more of it with more servers', async () => {
    const took = { ann: 0, bob: 0 };
    const ann = ['files', 'search', 'mail'].flatMap((server) =>
      Array.from({ length: 4 }, () =>
        run({ ...ANN, server }, { steps: 10, ms: 5 }, () => {
          took.ann += 5;
        }),
      ),
    );
    await run({ ...BOB, server: 'files' }, { steps: 100, ms: 1 }, () => {
      took.bob += 1;
    });
    const annWhenBobEnds = took.ann;
    await Promise.all(ann);
    expect(took).toEqual({ ann: 600, bob: 100 });
    expect(annWhenBobEnds).toBeGreaterThanOrEqual(90);
    expect(annWhenBobEnds).toBeLessThanOrEqual(110);
  });

  it('share their time between their servers, as where all callers are one', async () => {
    const took = { files: 0, search: 0 };
    const files = Array.from({ length: 16 }, () =>
      run({ ...ANN, server: 'files' }, { steps: 10, ms: 5 }, () => {
        took.files += 5;
      }),
    );
    await run({ ...ANN, server: 'search' }, { steps: 50, ms: 1 }, () => {
      took.search += 1;
    });
    const filesWhenSearchEnds = took.files;
    await Promise.all(files);
    expect(took).toEqual({ files: 800, search: 50 });
    expect(filesWhenSearchEnds).toBeGreaterThanOrEqual(40);
    expect(filesWhenSearchEnds).toBeLessThanOrEqual(60);
  });
});
