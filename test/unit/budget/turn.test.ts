import { describe, expect, it } from '@jest/globals';
import { breathe, isTurnOver, nextTurn } from '../../../gateway/budget/turn.js';

describe('work that waits for a turn of the event loop', () => {
  it('goes on in turn for each caller, and in order of arrival for one caller', async () => {
    const went: string[] = [];
    const wait = async (name: string, principal?: string) => {
      await nextTurn(principal);
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
    await nextTurn('ann');
    expect(breathe('ann')).toBeUndefined();
    while (!isTurnOver());
    await expect(breathe('ann')).resolves.toBeUndefined();
    expect(isTurnOver()).toBe(false);
  });
});
