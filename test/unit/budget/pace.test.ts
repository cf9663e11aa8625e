import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Pace, type PaceLimits, type Slowness } from '../../../gateway/budget/pace.js';

const LIMITS: PaceLimits = { idleMs: 60_000, leastRate: 1000, graceMs: 10_000 };

function watched(limits: Partial<PaceLimits> = {}) {
  const failures: Slowness[] = [];
  const pace = new Pace({ ...LIMITS, ...limits }, (slowness) => failures.push(slowness));
  return { pace, failures };
}

/** Sends `bytes` every `everyMs`, for `ms` in all or until the peer is given up. */
async function send({ pace, failures }: ReturnType<typeof watched>, bytes: number, everyMs: number, ms: number) {
  let passed = 0;
  for (; passed < ms && failures.length === 0; passed += everyMs) {
    await jest.advanceTimersByTimeAsync(everyMs);
    pace.took(bytes);
  }
  return passed;
}

describe('the pace of a peer', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it('may be slow for any time', async () => {
    const peer = watched();
    peer.pace.want();
    await send(peer, 1100, 1000, 3_600_000);
    expect(peer.failures).toEqual([]);
    peer.pace.end();
  });

  it('may not drip beyond the grace time', async () => {
    const peer = watched();
    peer.pace.want();
    const ms = await send(peer, 1, 500, 3_600_000);
    expect(peer.failures).toMatchObject([{ kind: 'slow' }]);
    expect(ms).toBeLessThanOrEqual(12_000);
  });

  it('is not made good for long by a lot that came at first', async () => {
    const peer = watched();
    peer.pace.want();
    peer.pace.took(100_000_000);
    const ms = await send(peer, 1, 500, 3_600_000);
    expect(peer.failures).toMatchObject([{ kind: 'slow' }]);
    expect(ms).toBeLessThanOrEqual(12_000);
  });

  it('ends with silence as well', async () => {
    const peer = watched({ idleMs: 3000 });
    peer.pace.want();
    await jest.advanceTimersByTimeAsync(5000);
    expect(peer.failures).toEqual([{ kind: 'silent', came: 0 }]);
  });

  it('knows no least rate where there is none', async () => {
    const peer = watched({ leastRate: 0 });
    peer.pace.want();
    await send(peer, 1, 30_000, 3_600_000);
    expect(peer.failures).toEqual([]);
    peer.pace.end();
  });

  it('does not count the time in which nothing is wanted', async () => {
    const peer = watched();
    peer.pace.want();
    for (let n = 0; n < 100; n += 1) {
      await jest.advanceTimersByTimeAsync(100);
      peer.pace.took(200);
      peer.pace.rest();
      await jest.advanceTimersByTimeAsync(100_000);
      peer.pace.want();
    }
    expect(peer.failures).toEqual([]);
    peer.pace.end();
  });

  it('does not count what the process itself was too busy to read', async () => {
    const peer = watched({ idleMs: 3000 });
    peer.pace.want();
    await jest.advanceTimersByTimeAsync(900);
    // in the turn in which the look is due, bytes that came long ago are read after the timers
    setTimeout(() => setImmediate(() => peer.pace.took(100_000)), 99);
    jest.advanceTimersByTime(99);
    const from = performance.now();
    jest.spyOn(performance, 'now').mockImplementation(() => from + 60_000);
    await jest.advanceTimersByTimeAsync(1);
    expect(peer.failures).toEqual([]);
    peer.pace.end();
    jest.restoreAllMocks();
  });
});
