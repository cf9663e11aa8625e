import { describe, expect, it } from '@jest/globals';
import { Closers } from '../../../gateway/parts/closers.js';

describe('what a gateway ends', () => {
  it('ends the parts after what uses them, each also when another fails, and the log has the error', async () => {
    const done: unknown[] = [];
    const closers = new Closers({ error: ({ err }) => done.push(err) });
    const failure = new Error('EIO');
    closers.addPart(async () => void done.push('store'));
    closers.add(async () => {
      throw failure;
    });
    closers.add(async () => void done.push('port'));
    await closers.close();
    expect(done).toEqual(['port', failure, 'store']);
  });
});
