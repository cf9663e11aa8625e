import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from '@jest/globals';

// Compiled, this file is dist/test/unit/budget/young-memory.test.js.
const MODULE = fileURLToPath(new URL('../../../gateway/budget/young-memory.js', import.meta.url));

/** One place that makes lists which live on. @returns which places V8 allocates old from now on, in its own words */
async function madeOld(before: string): Promise<string[]> {
  const program = `
    import { allocateYoung } from ${JSON.stringify(MODULE)};
    ${before}
    const pair = (one, other) => [one, other];
    const kept = new Array(200_000).fill(undefined);
    for (let round = 0; round < 20; round += 1) for (let at = 0; at < kept.length; at += 1) kept[at] = pair(at, round);
  `;
  const flags = ['--trace-pretenuring-statistics', '--input-type=module', '--eval', program];
  const { stdout } = await promisify(execFile)(process.execPath, flags);
  return stdout.split('\n').filter((line) => line.endsWith('=> tenure'));
}

it('allocates young also what a place makes whose earlier lists have lived on', async () => {
  expect((await madeOld('')).length).toBeGreaterThan(0);
  expect(await madeOld('allocateYoung();')).toEqual([]);
});
