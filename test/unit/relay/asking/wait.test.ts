import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { GatewayError } from '../../../../gateway/errors.js';
import type { PersonsAnswer } from '../../../../gateway/relay/asking/questions.js';
import { type Wait, waitForFile } from '../../../../gateway/relay/asking/wait.js';

const clock = { now: () => Date.now(), ticks: () => performance.now() };

/** The time of these waits passes only as they wait, however busy the machine is. */
const STEP_MS = 50;

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

async function wait(options: Partial<Wait> = {}) {
  let isOver = false;
  const waiting = waitForFile({
    isStored: async () => false,
    said: async () => undefined,
    until: Date.now() + 30_000,
    isDraining: () => false,
    signal: new AbortController().signal,
    clock,
    looked: () => {},
    ...options,
  }).finally(() => {
    isOver = true;
  });
  // its failure is for the caller of this
  waiting.catch(() => {});
  while (!isOver) await jest.advanceTimersByTimeAsync(STEP_MS);
  return waiting;
}

describe('a wait for a file', () => {
  it('ends when the file is there, whatever the person has said', async () => {
    let looks = 0;
    expect(await wait({ isStored: async () => ++looks > 2, said: async () => ({ answer: 'accepted' }) })).toBe(
      'stored',
    );
    expect(await wait({ isStored: async () => true, said: async () => ({ answer: 'declined' }) })).toBe('stored');
  });

  it.each<PersonsAnswer>(['declined', 'cancelled', 'unable', 'invalid'])(
    'ends when the person has %s',
    async (answer) => {
      expect(await wait({ said: async () => ({ answer }) })).toBe(answer);
    },
  );

  it('ends with its time, when Wharf shuts down, and when its caller has left', async () => {
    expect(await wait({ until: 0 })).toBe('late');
    expect(await wait({ isDraining: () => true })).toBe('ending');
    const gone = new AbortController();
    const waiting = wait({ signal: gone.signal });
    gone.abort();
    expect(await waiting).toBe('left');
  });

  it('ends when the page was not opened in time, counted again from the answer that accepts it', async () => {
    const closed = async () => ({ isOpened: false, isRevoked: false });
    const open = async () => ({ isOpened: true, isRevoked: false });
    const past = { until: 0, ms: 30_000 };
    const accepted = async () => ({ answer: 'accepted' as const });
    expect(await wait({ link: closed, notice: past })).toBe('unopened');
    const until = Date.now() + 500;
    expect(await wait({ link: open, notice: past, until })).toBe('late');
    expect(await wait({ link: closed, notice: past, said: accepted, until })).toBe('late');
    expect(await wait({ link: closed, notice: { until: 0, ms: 100 }, said: accepted })).toBe('unopened');
    expect(await wait({ link: closed, notice: past, isStored: async () => true })).toBe('stored');
  });

  it.each([-3_600_000, 3_600_000])('ends in its time, though the clock is set by %i ms', async (ms) => {
    let set = 0;
    const settable = { now: () => Date.now() + set, ticks: () => performance.now() };
    const looked = () => {
      set = ms;
    };
    const began = performance.now();
    expect(await wait({ until: Date.now() + 500, clock: settable, looked })).toBe('late');
    expect(performance.now() - began).toBeGreaterThan(490);
  });

  it('ends when its link was revoked, wherever that was, and says why if the user did it', async () => {
    const revoked = async () => ({ isOpened: true, isRevoked: true });
    expect(await wait({ link: revoked })).toBe('withdrawn');
    expect(await wait({ link: revoked, said: async () => ({ answer: 'declined' }) })).toBe('declined');
    expect(await wait({ link: revoked, isStored: async () => true })).toBe('stored');
  });

  it('ends when the state store has lost its link, unless the file is there', async () => {
    const lost = async () => undefined;
    expect(await wait({ link: lost })).toBe('lost');
    expect(await wait({ link: lost, isStored: async () => true })).toBe('stored');
  });

  it('survives a state store that does not answer for a while, and no other failure', async () => {
    let looks = 0;
    const isStored = async () => {
      looks += 1;
      if (looks < 3) throw new GatewayError('state_unavailable');
      return true;
    };
    expect(await wait({ isStored })).toBe('stored');
    const down = async () => Promise.reject(new GatewayError('state_unavailable'));
    await expect(wait({ isStored: down, until: Date.now() + 500 })).rejects.toMatchObject({
      code: 'state_unavailable',
    });
    await expect(wait({ isStored: () => Promise.reject(new Error('a fault')) })).rejects.toThrow('a fault');
  });
});
