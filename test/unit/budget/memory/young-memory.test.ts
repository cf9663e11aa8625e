import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from '@jest/globals';

// Compiled, this file is dist/test/unit/budget/memory/young-memory.test.js.
const MODULE = fileURLToPath(new URL('../../../../gateway/budget/memory/young-memory.js', import.meta.url));

/**
 * One place that makes lists which live on. @returns what V8 says of places that it will, or may soon, allocate old: how soon
 * differs between versions
 */
async function candidates(before: string): Promise<string[]> {
  const program = `
    import { allocateYoung } from ${JSON.stringify(MODULE)};
    ${before}
    const pair = (one, other) => [one, other];
    const kept = new Array(200_000).fill(undefined);
    for (let round = 0; round < 20; round += 1) for (let at = 0; at < kept.length; at += 1) kept[at] = pair(at, round);
  `;
  const flags = ['--trace-pretenuring-statistics', '--input-type=module', '--eval', program];
  const { stdout } = await promisify(execFile)(process.execPath, flags);
  return stdout.split('\n').filter((line) => /AllocationSite.*=> (maybe )?tenure$/.test(line));
}

it('allocates young also what a place makes whose earlier lists have lived on', async () => {
  expect((await candidates('')).length).toBeGreaterThan(0);
  expect(await candidates('allocateYoung();')).toEqual([]);
});
