import { getEventListeners } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { pause } from '../../../gateway/stdio/pause.js';

describe('a pause', () => {
  it('leaves nothing on the signal that might have ended it', async () => {
    const { signal } = new AbortController();
    for (let count = 0; count < 5; count++) await pause(1, signal);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('ends with the signal, also with one that has aborted before', async () => {
    const end = new AbortController();
    const paused = pause(60_000, end.signal);
    end.abort();
    await paused;
    await pause(60_000, end.signal);
  });
});
