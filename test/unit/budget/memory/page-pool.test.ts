import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from '@jest/globals';

// Compiled, this file is dist/test/unit/budget/memory/page-pool.test.js.
const MODULE = fileURLToPath(new URL('../../../../gateway/budget/memory/collector.js', import.meta.url));

/**
 * Lets V8 look at its pool of pages, which is empty, and fills it then with those of 60 MiB of arrays. Prints how many MiB these
 * take, and how many of them are left once the pages have been given back: after half a minute, if nothing stirs.
 */
const PROGRAM = `
  import { stirPagePool } from ${JSON.stringify(MODULE)};
  const mib = () => Math.round(process.memoryUsage.rss() / 1024 / 1024);
  const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  gc();
  stirPagePool(gc);
  await pause(500);
  const before = mib();
  let kept = Array.from({ length: 6000 }, () => new Array(1300).fill(0.5));
  gc();
  const filled = mib() - before;
  kept = undefined;
  gc({ type: 'major' });
  for (let times = 0; times < 15 && mib() > before + 20; times += 1) {
    await pause(2000);
    stirPagePool(gc);
  }
  console.log(JSON.stringify({ filled, left: mib() - before }));
`;

it('pages that came just after V8 had looked at its pool are given back, though nothing else allocates', async () => {
  const flags = ['--expose-gc', '--input-type=module', '--eval', PROGRAM];
  const { stdout } = await promisify(execFile)(process.execPath, flags);
  const { filled, left } = JSON.parse(stdout) as { filled: number; left: number };
  expect(filled).toBeGreaterThan(40);
  expect(left).toBeLessThanOrEqual(20);
});
