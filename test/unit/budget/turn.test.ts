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

  /** How long each side has worked when the lighter one ends, which does so first, and in all. */
  const race = async (heavy: { owners: readonly Owner[]; steps: number }, light: { owner: Owner; steps: number }) => {
    const took = { heavy: 0, light: 0 };
    const others = heavy.owners.map((owner) =>
      run(owner, { steps: heavy.steps, ms: 5 }, () => {
        took.heavy += 5;
      }),
    );
    await run(light.owner, { steps: light.steps, ms: 1 }, () => {
      took.light += 1;
    });
    const atFirstEnd = took.heavy;
    await Promise.all(others);
    return { took, atFirstEnd };
  };

  it('go on for as long as each other, however long their steps are, and however many of them wait', async () => {
    const { took, atFirstEnd } = await race({ owners: Array(16).fill(ANN), steps: 5 }, { owner: BOB, steps: 50 });
    expect(took).toEqual({ heavy: 400, light: 50 });
    expect(atFirstEnd).toBeGreaterThanOrEqual(40);
    expect(atFirstEnd).toBeLessThanOrEqual(60);
  });

  it('get no more of it with more servers', async () => {
    const owners = ['files', 'search', 'mail'].flatMap((server) => Array<Owner>(4).fill({ ...ANN, server }));
    const light = { owner: { ...BOB, server: 'files' }, steps: 100 };
    const { took, atFirstEnd } = await race({ owners, steps: 10 }, light);
    expect(took).toEqual({ heavy: 600, light: 100 });
    expect(atFirstEnd).toBeGreaterThanOrEqual(90);
    expect(atFirstEnd).toBeLessThanOrEqual(110);
  });

  it('share their time between their servers, as where all callers are one', async () => {
    const owners = Array<Owner>(16).fill({ ...ANN, server: 'files' });
    const light = { owner: { ...ANN, server: 'search' }, steps: 50 };
    const { took, atFirstEnd } = await race({ owners, steps: 10 }, light);
    expect(took).toEqual({ heavy: 800, light: 50 });
    expect(atFirstEnd).toBeGreaterThanOrEqual(40);
    expect(atFirstEnd).toBeLessThanOrEqual(60);
  });
});
