import { describe, expect, it } from '@jest/globals';
import { AbandonedCalls } from '../../../../gateway/relay/channels/calls/abandoned-calls.js';
import { CallFiles } from '../../../../gateway/relay/channels/calls/call-files.js';

/** Files of a POST, and how often they were removed. */
function filesOf(...ids: string[]) {
  const seen = { removed: 0 };
  const files = new CallFiles(ids, async () => {
    seen.removed += 1;
  });
  return { files, seen };
}

function left({ most = 10 } = {}) {
  const givenUp: string[][] = [];
  const ids = (given: readonly string[]) => void givenUp.push([...given]);
  const calls = new AbandonedCalls({ most, ms: 60_000, clock: { ticks: () => 0 }, givenUp: ids });
  return { calls, givenUp };
}

describe('what exists only for the calls of a POST', () => {
  it('is removed with the last of them', async () => {
    const { files, seen } = filesOf('1', '2');
    await files.over(['2']);
    expect(seen.removed).toBe(0);
    await files.over(['1']);
    expect(seen.removed).toBe(1);
  });

  it('is there for a task when all else is over, and for another call when the task is over', async () => {
    const { files, seen } = filesOf('1', '2');
    files.neededBy('task');
    await files.over(['1']);
    await files.over(['task']);
    expect(seen.removed).toBe(0);
    await files.over(['2']);
    expect(seen.removed).toBe(1);
  });
});

describe('calls whose client has gone', () => {
  it('have their files until the last of them is answered', async () => {
    const { files, seen } = filesOf('1', '2');
    const { calls } = left();
    calls.add({ ids: ['1', '2'], files });
    await calls.settle('1');
    expect(seen.removed).toBe(0);
    await calls.settle('2');
    expect(seen.removed).toBe(1);
    expect(calls.isEmpty).toBe(true);
  });

  it('are given up with their files when there are too many, the oldest first', () => {
    const { calls, givenUp } = left({ most: 1 });
    const one = filesOf('1');
    const two = filesOf('2');
    calls.add({ ids: ['1'], files: one.files });
    calls.add({ ids: ['2'], files: two.files });
    expect(givenUp).toEqual([['1']]);
    expect([one.seen.removed, two.seen.removed]).toEqual([1, 0]);
  });

  it('keep no files of a task whose id its server gives to another one', async () => {
    const { calls } = left();
    const one = filesOf();
    const two = filesOf();
    for (const { files } of [one, two]) {
      calls.add({ ids: ['task'], files });
      files.neededBy('task');
    }
    expect([one.seen.removed, two.seen.removed]).toEqual([1, 0]);
    await calls.end();
    expect([one.seen.removed, two.seen.removed]).toEqual([1, 1]);
  });
});
