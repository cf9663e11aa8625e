import { describe, expect, it } from '@jest/globals';
import { createReader } from '../../../gateway/wire/json/reader.js';
import { compileWatchTree } from '../../../gateway/wire/json/watch-tree.js';

const TREE = compileWatchTree({});

/** What each `feed` delivers of a chunk that is fed to its end. */
function feeds(kind: 'json' | 'sse' | 'lines', chunk: string): number[] {
  const delivered: number[] = [];
  let now = 0;
  const count = () => {
    now += 1;
  };
  const reader = createReader(kind, {
    tree: TREE,
    mostAtOnce: 3,
    handler: { message: count, comment: count, noise: count },
  });
  for (let left: Buffer | undefined = Buffer.from(chunk); left; ) {
    now = 0;
    left = reader.feed(left);
    delivered.push(now);
  }
  return delivered;
}

describe('mostAtOnce', () => {
  it.each([
    ['messages of a body', 'json', '1 2 3 4 5 6 7 '],
    ['messages of a stream', 'sse', 'data: 1\n\n'.repeat(7)],
    ['comments of a stream', 'sse', ':\n'.repeat(7)],
    ['messages and comments of a stream', 'sse', `${':x\n\ndata: 1\n\n'.repeat(3)}:\r\n`],
    ['messages by line', 'lines', '{}\n'.repeat(7)],
    ['lines that are not messages', 'lines', 'x\n'.repeat(7)],
  ] as const)('bounds what one feed delivers of %s', (_, kind, chunk) => {
    expect(feeds(kind, chunk)).toEqual([3, 3, 1]);
  });
});
