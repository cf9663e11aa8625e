import { Writable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { feed } from '../../../adapters/upstream/common/feed.js';

const OPTIONS = { stallMs: 10_000, isOver: () => false };

/** A message of pieces with their number in them, and those that have come back. */
function messageOf(lengths: readonly number[]) {
  const released: number[] = [];
  return {
    released,
    length: lengths.reduce((sum, one) => sum + one, 0),
    async *read() {
      for (const [index, length] of lengths.entries()) yield Buffer.alloc(length, index);
    },
    release: (piece: Buffer) => {
      released.push(piece[0] ?? -1);
    },
  };
}

describe('a streamed message on its way to a server', () => {
  it('releases each piece once its last byte has been sent, and not before', async () => {
    const message = messageOf([200_000, 100_000, 300_000]);
    let taken = 0;
    const ends = [200_000, 300_000, 600_000];
    const early: number[] = [];
    const sink = new Writable({
      write: (chunk: Buffer, _, done) => {
        for (const index of message.released) if (taken < (ends[index] ?? 0)) early.push(index);
        setImmediate(() => {
          taken += chunk.length;
          done();
        });
      },
    });
    // the last byte is sent by itself
    expect(await feed(message, sink, OPTIONS)).toEqual({ end: 'complete', written: 600_000 });
    await new Promise((resolve) => sink.end(resolve));
    expect(early).toEqual([]);
    expect(new Set(message.released)).toEqual(new Set([0, 1, 2]));
  });

  it('releases nothing that could not be sent', async () => {
    const message = messageOf([100_000, 100_000]);
    const sink = new Writable({ write: (_chunk, _encoding, done) => done(new Error('gone')) });
    sink.on('error', () => {});
    await feed(message, sink, { ...OPTIONS, isOver: () => sink.destroyed });
    expect(message.released).toEqual([]);
  });
});
