import { describe, expect, it } from '@jest/globals';
import { BlockMoves } from '../../../../../gateway/relay/results/beside/block-moves.js';
import type { Replacement } from '../../../../../gateway/relay/results/remote-edits.js';

/** Replaces the block at `path`, which begins at byte `start`, by so many blocks. */
function replacement(path: (string | number)[], start: number, blocks: number): Replacement {
  const block = { type: 'text', text: '' };
  return {
    range: { path, start, end: start + 5 },
    kind: 'content',
    blocks: Array.from({ length: blocks }, () => block),
  };
}

describe('the places of blocks after some have been replaced', () => {
  const CONTENT = ['result', 'content'];

  it('stay as they are where nothing is replaced', () => {
    expect(new BlockMoves([]).placeOf([...CONTENT, 3])).toBe(3);
  });

  it('move by the blocks that the ones before became, in whatever order these were found', () => {
    const moves = new BlockMoves([replacement([...CONTENT, 2], 50, 2), replacement([...CONTENT, 0], 10, 3)]);
    expect([0, 1, 2, 3].map((index) => moves.placeOf([...CONTENT, index]))).toEqual([0, 3, 4, 6]);
  });

  it('move back where a block becomes none', () => {
    expect(new BlockMoves([replacement([...CONTENT, 0], 10, 0)]).placeOf([...CONTENT, 1])).toBe(0);
  });

  it('move by blocks that are put before a block, which itself stays', () => {
    const moves = new BlockMoves([{ ...replacement([...CONTENT, 1], 20, 1), link: 'kept' }]);
    expect([0, 1, 2].map((index) => moves.placeOf([...CONTENT, index]))).toEqual([0, 2, 3]);
  });

  it('are counted for each list of a batch by itself', () => {
    const moves = new BlockMoves([replacement([0, ...CONTENT, 0], 10, 4)]);
    expect(moves.placeOf([1, ...CONTENT, 1])).toBe(1);
    expect(moves.placeOf([0, ...CONTENT, 1])).toBe(4);
  });
});
