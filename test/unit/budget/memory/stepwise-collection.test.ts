import { execFile } from 'node:child_process';
import { constants } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from '@jest/globals';

// Compiled, this file is dist/test/unit/budget/memory/stepwise-collection.test.js.
const MODULE = fileURLToPath(new URL('../../../../gateway/budget/memory/stepwise-collection.js', import.meta.url));

/**
 * Prints by how many MiB the memory has grown, and what V8 has collected. In a process of its own: what other suites have left
 * in one is collected at any time.
 */
const PROGRAM = `
  import { PerformanceObserver } from 'node:perf_hooks';
  import { beginCollection } from ${JSON.stringify(MODULE)};
  const collected = new Promise((resolve) => {
    new PerformanceObserver((list, observer) => {
      const found = list.getEntries().find(({ detail }) => detail.kind === ${constants.NODE_PERFORMANCE_GC_MAJOR});
      if (!found) return;
      observer.disconnect();
      resolve(found.detail.kind);
    }).observe({ entryTypes: ['gc'] });
  });
  // V8 needs 20 ms; without a cause it collects this process after half a minute
  const late = setTimeout(() => process.exit(1), 10_000);
  const before = process.memoryUsage.rss();
  const end = beginCollection();
  const grown = (process.memoryUsage.rss() - before) / 1024 / 1024;
  const kind = await collected;
  clearTimeout(late);
  end();
  console.log(JSON.stringify({ grown, kind }));
`;

it('a collection in steps is begun by V8 itself, and leaves nothing resident of what made it begin', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', PROGRAM]);
  const { grown, kind } = JSON.parse(stdout) as { grown: number; kind: number };
  expect(grown).toBeLessThan(40);
  expect(kind).toBe(constants.NODE_PERFORMANCE_GC_MAJOR);
});
