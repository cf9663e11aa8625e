import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Patience } from '../../../gateway/budget/patience.js';

const late = () => new Error('late');
const never = () => new Promise<never>(() => {});

describe('patience', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.restoreAllMocks();
    jest.useRealTimers();
  });

  it('ends when an answer takes too long, for each that waits in its turn', async () => {
    const patience = new Patience(500);
    const ended: number[] = [];
    const wait = (n: number) => patience.within(never(), late).catch(() => ended.push(n));
    void wait(1);
    await jest.advanceTimersByTimeAsync(300);
    void wait(2);
    await jest.advanceTimersByTimeAsync(251);
    expect(ended).toEqual([1]);
    await jest.advanceTimersByTimeAsync(300);
    expect(ended).toEqual([1, 2]);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('lasts as long as it says, whenever it begins', async () => {
    const patience = new Patience(500);
    const ended: number[] = [];
    const first = patience.begin(() => ended.push(1));
    await jest.advanceTimersByTimeAsync(49);
    patience.begin(() => ended.push(2));
    patience.end(first);
    await jest.advanceTimersByTimeAsync(499);
    expect(ended).toEqual([]);
    await jest.advanceTimersByTimeAsync(100);
    expect(ended).toEqual([2]);
  });

  it('gives what is answered in time, and what fails as it failed', async () => {
    const patience = new Patience(500);
    expect(await patience.within(Promise.resolve('here'), late)).toBe('here');
    await expect(patience.within(Promise.reject(new Error('down')), late)).rejects.toThrow('down');
    await jest.advanceTimersByTimeAsync(100);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('does not run out because the process was busy', async () => {
    const patience = new Patience(500);
    let answer: (text: string) => void = () => {};
    const asked = new Promise<string>((resolve) => {
      answer = resolve;
    });
    const waiting = patience.within(asked, late);
    await jest.advanceTimersByTimeAsync(49);
    // one turn of ten seconds, at the end of which the answer is read from the socket
    const now = performance.now() + 10_000;
    jest.spyOn(performance, 'now').mockImplementation(() => now);
    await jest.advanceTimersByTimeAsync(1);
    answer('here');
    expect(await waiting).toBe('here');
  });
});

describe('patience that has been rewarded', () => {
  const held = () => process.getActiveResourcesInfo().filter((one) => one === 'Timeout').length;

  it('does not keep the process, and waits again when it is asked to', async () => {
    const before = held();
    const patience = new Patience(600_000);
    await patience.within(Promise.resolve(), late);
    expect(held()).toBe(before);
    let answer = () => {};
    const waiting = patience.within(new Promise<void>((resolve) => (answer = resolve)), late);
    expect(held()).toBe(before + 1);
    answer();
    await waiting;
    expect(held()).toBe(before);
  });
});
