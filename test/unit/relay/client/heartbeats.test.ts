import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Heartbeats } from '../../../../gateway/relay/client/heartbeats.js';

const STREAMS = 1000;

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

/** When each of some streams beats, in milliseconds since they all began. */
function beatsOf(streams: number, ms: number): number[][] {
  const heartbeats = new Heartbeats();
  const began = Date.now();
  const beats = Array.from({ length: streams }, (): number[] => []);
  for (const own of beats) heartbeats.add({ beat: () => own.push(Date.now() - began) });
  jest.advanceTimersByTime(ms);
  return beats;
}

describe('an open stream', () => {
  it('beats every 15 s, at first after 5 to 15 s', () => {
    for (const [first = 0, ...others] of beatsOf(100, 60_000)) {
      expect(first).toBeGreaterThanOrEqual(5000);
      expect(first).toBeLessThanOrEqual(15_000);
      expect(others.slice(0, 3)).toEqual([first + 15_000, first + 30_000, first + 45_000].slice(0, others.length));
      expect(others.length).toBeGreaterThanOrEqual(2);
    }
  });

  it('does not beat with all the others that began with it', () => {
    const together = new Map<number, number>();
    for (const beats of beatsOf(STREAMS, 15_000)) {
      for (const at of beats) together.set(at, (together.get(at) ?? 0) + 1);
    }
    expect([...together.values()].reduce((sum, count) => sum + count, 0)).toBe(STREAMS);
    expect(Math.max(...together.values())).toBeLessThanOrEqual(STREAMS / 40);
  });

  it('beats no more once it is removed, as often as that is said', () => {
    const heartbeats = new Heartbeats();
    let beats = 0;
    const heart = heartbeats.add({
      beat() {
        beats += 1;
        heartbeats.remove(heart);
      },
    });
    let others = 0;
    heartbeats.add({
      beat() {
        others += 1;
      },
    });
    jest.advanceTimersByTime(60_000);
    heartbeats.remove(heart);
    jest.advanceTimersByTime(60_000);
    expect([beats, others]).toEqual([1, 8]);
  });
});

it('without a stream nothing is timed', () => {
  const heartbeats = new Heartbeats();
  const heart = heartbeats.add({ beat() {} });
  expect(jest.getTimerCount()).toBe(1);
  heartbeats.remove(heart);
  expect(jest.getTimerCount()).toBe(0);
  heartbeats.add({ beat() {} });
  expect(jest.getTimerCount()).toBe(1);
});
