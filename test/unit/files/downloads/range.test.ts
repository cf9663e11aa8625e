import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { decideRange } from '../../../../gateway/files/downloads/range.js';
import { runs } from '../../../helpers/effort.js';

const part = (start: number, end: number) => ({ kind: 'part', range: { start, end } });

describe('a Range header', () => {
  it.each<[header: string | undefined, size: number, decision: unknown]>([
    ['bytes=0-0', 10, part(0, 0)],
    ['bytes=0-', 10, part(0, 9)],
    ['bytes=9-', 10, part(9, 9)],
    ['bytes=2-100', 10, part(2, 9)],
    ['bytes=-1', 10, part(9, 9)],
    ['bytes=-100', 10, part(0, 9)],
    ['BYTES=1-2', 10, part(1, 2)],
    ['bytes= 1-2 ', 10, part(1, 2)],
    ['bytes=1-18446744073709551616', 10, part(1, 9)],
    ['bytes=-18446744073709551616', 10, part(0, 9)],
  ])('%s of %i bytes asks for a part', (header, size, decision) => {
    expect(decideRange(header, size)).toEqual(decision);
  });

  it.each<[header: string, size: number]>([
    ['bytes=-0', 10],
    ['bytes=10-', 10],
    ['bytes=10-20', 10],
    ['bytes=9007199254740992-', 10],
    ['bytes=18446744073709551616-18446744073709551617', 10],
    ['bytes=0-0', 0],
    ['bytes=0-', 0],
    ['bytes=-0', 0],
  ])('%s of %i bytes cannot be satisfied', (header, size) => {
    expect(decideRange(header, size)).toEqual({ kind: 'unsatisfiable' });
  });

  it.each<[header: string | undefined, size: number]>([
    [undefined, 10],
    ['', 10],
    ['bytes', 10],
    ['bytes=', 10],
    ['bytes=-', 10],
    ['bytes=5-2', 10],
    ['bytes=9007199254740993-9007199254740992', 10],
    ['bytes = 0-1', 10],
    ['bytes=a-b', 10],
    ['bytes=0x1-2', 10],
    ['bytes=1.5-2', 10],
    ['bytes=--1', 10],
    ['bytes=+1-2', 10],
    ['bytes=0-0,2-2', 10],
    ['bytes=0-0,0-0', 10],
    [`bytes=${'0-0,'.repeat(10_000)}0-0`, 10],
    [`bytes=${'9'.repeat(100_000)}-`, 10],
    ['items=0-1', 10],
    ['bytes=-5', 0],
  ])('%s of %i bytes is ignored', (header, size) => {
    expect(decideRange(header, size)).toEqual({ kind: 'whole' });
  });

  it('never reaches outside the file', () => {
    const number = fc.oneof(fc.nat(30), fc.bigInt({ min: 0n, max: 2n ** 70n }), fc.constant(''));
    fc.assert(
      fc.property(number, number, fc.nat(20), (first, last, size) => {
        const decision = decideRange(`bytes=${first}-${last}`, size);
        if (decision.kind !== 'part') return;
        expect(decision.range.start).toBeGreaterThanOrEqual(0);
        expect(decision.range.end).toBeGreaterThanOrEqual(decision.range.start);
        expect(decision.range.end).toBeLessThan(size);
      }),
      { numRuns: runs(10_000) },
    );
  });
});
