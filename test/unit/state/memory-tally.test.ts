import { describe, expect, it } from '@jest/globals';
import { Tallies } from '../../../adapters/state/memory-tally.js';

const one = [{ part: 'a', by: 1, ttlMs: 60_000 }];

describe('tallies in memory', () => {
  it('are bounded, and refuse a new caller without reading all of them each time', () => {
    const most = 20_000;
    const tallies = new Tallies(most);
    const add = (key: string, now: number) => tallies.change(key, one, { limit: undefined, now });
    for (let at = 0; at < most; at += 1) add(`k${at}`, at);
    const now = most;
    let read = 0;
    const { values } = Map.prototype;
    Map.prototype.values = function counted(this: Map<unknown, unknown>) {
      read += 1;
      return values.call(this);
    } as typeof values;
    try {
      for (let at = 0; at < 1000; at += 1) expect(() => add(`new${at}`, now)).toThrow(/full/);
    } finally {
      Map.prototype.values = values;
    }
    expect(read).toBeLessThan(10_000);
  });

  it('have room again once one has ended, whether the clock goes on or back', () => {
    const tallies = new Tallies(2);
    const add = (key: string, now: number) => tallies.change(key, one, { limit: undefined, now }).isWithin;
    expect([add('a', 0), add('b', 30_000)]).toEqual([true, true]);
    expect(() => add('c', 40_000)).toThrow(/full/);
    expect(add('c', 61_000)).toBe(true);
    expect(() => add('d', 10_000)).toThrow(/full/);
    expect(add('d', 95_000)).toBe(true);
  });

  it('have room as soon as one has ended, and forget those that have ended in steps', () => {
    const most = 2000;
    const tallies = new Tallies(most);
    const add = (key: string, now: number) => tallies.change(key, one, { limit: undefined, now }).isWithin;
    for (let at = 0; at < most; at += 1) add(`k${at}`, at);
    // the first one lives on, so that it makes no room for another
    add('k0', 1000);
    expect(() => add('new', 60_000)).toThrow(/full/);
    expect(add('new 1', 60_001)).toBe(true);
    expect(() => add('new 2', 60_001)).toThrow(/full/);
    expect(add('new 2', 60_002)).toBe(true);
    let steps = 1;
    while (tallies.purgeSome(60_000 + most)) steps += 1;
    expect(steps).toBeGreaterThan(2);
    for (let at = 0; at < most - 2; at += 1) expect(add(`again ${at}`, 60_000 + most)).toBe(true);
  });

  it('count no amount below nothing, and none that is not a number', () => {
    const tallies = new Tallies(2);
    const change = (by: number) => tallies.change('a', [{ part: 'x', by, ttlMs: 1000 }], { limit: 10, now: 0 });
    expect(change(-Number.MAX_SAFE_INTEGER)).toEqual({ isWithin: true, total: 0 });
    expect(change(11)).toMatchObject({ isWithin: false, total: 11 });
    expect(change(10)).toEqual({ isWithin: true, total: 10 });
    expect(change(-Number.MAX_SAFE_INTEGER)).toEqual({ isWithin: true, total: 0 });
  });
});
