import { describe, expect, it } from '@jest/globals';
import { looks } from '../../../gateway/wire/looks.js';

const MARK = Buffer.from('a mark!');

const isSeen = (pieces: readonly Buffer[]) => [...looks(pieces, MARK.length)].some((part) => part.includes(MARK));

describe('what is searched for a mark', () => {
  it('shows it wherever the pieces of the text begin and end', () => {
    const text = Buffer.concat([Buffer.from('some text before '), MARK, Buffer.from(' and behind')]);
    for (let first = 0; first <= text.length; first++) {
      for (let second = first; second <= text.length; second++) {
        const pieces = [text.subarray(0, first), text.subarray(first, second), text.subarray(second)];
        expect(isSeen(pieces)).toBe(true);
      }
    }
    expect(isSeen(Array.from(text, (byte) => Buffer.from([byte])))).toBe(true);
  });

  it('shows it wherever it is in a piece too long for one step', () => {
    for (let at = 65_525; at < 65_545; at++) expect(isSeen([Buffer.concat([Buffer.alloc(at), MARK])])).toBe(true);
  });

  it('shows no mark that the text does not have', () => {
    expect(isSeen([])).toBe(false);
    expect(isSeen([MARK.subarray(0, 3), Buffer.from('-'), MARK.subarray(3)])).toBe(false);
    expect(isSeen([MARK.subarray(3), MARK.subarray(0, 3)])).toBe(false);
  });

  it('is the text itself, but for the bytes where two pieces meet', () => {
    const pieces: Buffer[] = [Buffer.alloc(60_000), Buffer.alloc(60_000)];
    const copied = [...looks(pieces, MARK.length)].filter((part) => !pieces.includes(part));
    expect(copied.map(({ length }) => length)).toEqual([2 * (MARK.length - 1)]);
  });
});
