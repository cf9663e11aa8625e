import { expect, it } from '@jest/globals';
import { FewLines } from '../../gateway/few-lines.js';

it('a kind has a few lines in a minute, and the next minute says how many were left out', () => {
  let now = 0;
  const lines = new FewLines({ ticks: () => now });
  const taken = (kind: string) => [1, 2, 3].map(() => lines.take(kind, 2));
  expect(taken('a')).toEqual([{}, {}, undefined]);
  expect(taken('b')).toEqual([{}, {}, undefined]);
  now = 59_999;
  expect(lines.take('a', 2)).toBeUndefined();
  now = 60_000;
  expect(taken('a')).toEqual([{ leftOut: 2 }, {}, undefined]);
});

it('a stopwatch that stands still or goes back begins no silence without an end', () => {
  let now = 1_000_000;
  const lines = new FewLines({ ticks: () => now });
  expect([lines.take('a', 1), lines.take('a', 1)]).toEqual([{}, undefined]);
  now = 0;
  expect(lines.take('a', 1)).toEqual({ leftOut: 1 });
});

it('kinds that come and go with reloads are not all kept', () => {
  const lines = new FewLines({ ticks: () => 0 });
  for (let at = 0; at < 5000; at++) lines.take(`kind ${at}`, 1);
  expect(lines.take('kind 4999', 1)).toBeUndefined();
  lines.take('kind 5000', 1);
  expect(lines.take('kind 4999', 1)).toEqual({});
});
