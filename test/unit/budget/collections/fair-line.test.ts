import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { FairLine } from '../../../../gateway/budget/collections/line.js';

const all = <T>(line: FairLine<T>): T[] => {
  const taken: T[] = [];
  for (let next = line.take(); next !== undefined; next = line.take()) taken.push(next);
  return taken;
};

describe('a line in which owners take turns', () => {
  it('gives one value of each in turn, and those of one owner in order of arrival', () => {
    const line = new FairLine<string>();
    for (const value of ['a1', 'a2', 'a3', 'b1', 'c1', 'b2']) line.add(value, value.slice(0, 1));
    expect(all(line)).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
    expect(line.isEmpty).toBe(true);
  });

  it('gives an owner that comes later its turn after those that wait', () => {
    const line = new FairLine<string>();
    for (const value of ['a1', 'a2', 'a3', 'b1', 'b2']) line.add(value, value.slice(0, 1));
    expect(line.take()).toBe('a1');
    line.add('c1', 'c');
    expect(all(line)).toEqual(['b1', 'a2', 'c1', 'b2', 'a3']);
  });

  it('gives every second turn to those whose owner is not known', () => {
    const line = new FairLine<string>();
    for (const value of ['a1', 'a2', 'b1', 'c1']) line.add(value, value.slice(0, 1));
    for (const value of ['x', 'y', 'z']) line.add(value, undefined);
    expect(all(line)).toEqual(['a1', 'x', 'b1', 'y', 'c1', 'z', 'a2']);
    line.add('x', undefined);
    line.add('y', undefined);
    expect(all(line)).toEqual(['x', 'y']);
  });

  it('gives a turn to each source of those whose owner is not known', () => {
    const line = new FairLine<string>();
    const [many, other] = [{}, {}];
    for (const value of ['x1', 'x2', 'x3']) line.add(value, undefined, many);
    line.add('y', undefined, other);
    line.add('a', 'a');
    expect(all(line)).toEqual(['a', 'x1', 'y', 'x2', 'x3']);
    expect(line.isEmpty).toBe(true);
  });

  it('passes over owners that may not have a turn now, and keeps their values', () => {
    const line = new FairLine<string>();
    for (const value of ['a1', 'a2', 'b1', 'b2']) line.add(value, value.slice(0, 1));
    line.add('x', undefined);
    const none = line.take(() => false);
    const taken = [1, 2, 3].map(() => line.take((owner) => owner === 'b'));
    const unknown = line.take((owner) => owner === undefined);
    expect([none, taken, unknown]).toEqual([undefined, ['b1', 'b2', undefined], 'x']);
    expect(all(line)).toEqual(['a1', 'a2']);
  });

  it('is left from anywhere, once', () => {
    const line = new FairLine<string>();
    const [a1, b1] = [line.add('a1', 'a'), line.add('b1', 'b')];
    line.add('a2', 'a');
    expect([line.remove(a1), line.remove(b1), line.remove(b1)]).toEqual([true, true, false]);
    expect(all(line)).toEqual(['a2']);
    expect(line.remove(a1)).toBe(false);
  });

  it('keeps each value until it is taken or removed, whatever comes and goes', () => {
    const step = fc.record({ owner: fc.nat(3), does: fc.constantFrom('add', 'add', 'take', 'remove') });
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const line = new FairLine<number>();
        const places = new Map<number, ReturnType<typeof line.add>>();
        for (const [at, { owner, does }] of steps.entries()) {
          const [first] = places.keys();
          if (does === 'add') places.set(at, line.add(at, owner === 0 ? undefined : String(owner)));
          else if (does === 'take') places.delete(line.take() ?? -1);
          else if (first !== undefined) {
            expect(line.remove(places.get(first) as ReturnType<typeof line.add>)).toBe(true);
            places.delete(first);
          }
          expect(line.isEmpty).toBe(places.size === 0);
        }
        expect(new Set(all(line))).toEqual(new Set(places.keys()));
      }),
    );
  });
});
