import { describe, expect, it } from '@jest/globals';
import { Line, type Place } from '../../../../gateway/budget/collections/line.js';
import { collector } from '../../../../gateway/budget/memory/collector.js';

describe('a line', () => {
  it('has its values in order of arrival, whichever of them leaves', () => {
    const line = new Line<string>();
    const places = ['a', 'b', 'c', 'd'].map((value) => line.add(value));
    const left: (string | undefined)[] = [];
    for (const at of [1, 0, 3, 2]) {
      expect(line.remove(places[at] as Place<string>)).toBe(true);
      left.push(line.first);
    }
    expect(left).toEqual(['a', 'c', 'c', undefined]);
    line.add('e');
    expect(line.first).toBe('e');
  });

  it('is left once', () => {
    const line = new Line<string>();
    const place = line.add('a');
    line.add('b');
    expect([place.isIn, line.remove(place), line.remove(place), place.isIn]).toEqual([true, true, false, false]);
    expect(line.first).toBe('b');
  });

  it('lets a value go to the end, but none that has left', () => {
    const line = new Line<string>();
    const [a, b, c] = ['a', 'b', 'c'].map((value) => line.add(value)) as [Place<string>, Place<string>, Place<string>];
    line.toEnd(b);
    line.toEnd(b);
    expect([...line.values()]).toEqual(['a', 'c', 'b']);
    line.toEnd(a);
    line.remove(c);
    line.toEnd(c);
    expect([...line.values()]).toEqual(['b', 'a']);
  });

  it('can be walked along while each value leaves or goes to the end', () => {
    const line = new Line<string>();
    const places = new Map(['a', 'b', 'c', 'd'].map((value) => [value, line.add(value)]));
    const seen: string[] = [];
    for (const value of line.values()) {
      seen.push(value);
      const place = places.get(value) as Place<string>;
      if (value === 'a' || value === 'd') line.toEnd(place);
      else line.remove(place);
    }
    expect(seen).toEqual(['a', 'b', 'c', 'd']);
    expect([...line.values()]).toEqual(['a', 'd']);
    line.clear();
    expect([line.first, places.get('a')?.isIn]).toEqual([undefined, false]);
  });

  it('keeps nothing of those that came after a place whose holder keeps it', async () => {
    const line = new Line<object>();
    const kept = line.add({});
    const later = pass(line, kept);
    // a WeakRef holds its value to the end of the turn
    await new Promise(setImmediate);
    collector()({ type: 'major', flavor: 'last-resort' });
    expect(later.filter((value) => value.deref() !== undefined)).toHaveLength(0);
    expect(kept.isIn).toBe(false);
  });
});

/** Many come and leave, so that the line is never empty. */
function pass(line: Line<object>, first: Place<object>): WeakRef<object>[] {
  let last = first;
  const later = Array.from({ length: 100 }, () => {
    const next = line.add({});
    line.remove(last);
    last = next;
    return new WeakRef(next.value);
  });
  line.remove(last);
  return later;
}
