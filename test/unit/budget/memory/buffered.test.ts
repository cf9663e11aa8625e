import { Readable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { readBuffered } from '../../../../gateway/budget/memory/buffered.js';

const streamOf = (...pieces: string[]) => {
  const stream = new Readable({ read: () => undefined });
  for (const piece of pieces) stream.push(Buffer.from(piece));
  return stream;
};

describe('what a stream has buffered', () => {
  it.each([
    ['nothing', [], null],
    ['one piece', ['a'], 'a'],
    ['several pieces, on every Node', ['a', 'bc', 'd'], 'abcd'],
  ])('is read whole: %s', (_, pieces, all) => {
    expect(readBuffered(streamOf(...pieces))?.toString() ?? null).toBe(all);
  });

  it('ends the stream when its end has come', async () => {
    const stream = streamOf('a', 'b');
    stream.push(null);
    const ended = new Promise((resolve) => stream.once('end', resolve));
    readBuffered(stream);
    await ended;
  });
});
