import { constants, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';
import { describe, expect, it } from '@jest/globals';
import { beginCollection } from '../../../gateway/budget/stepwise-collection.js';

interface Collection {
  kind?: number;
}

/** Resolves with what Node tells of V8's next collection of the whole heap. */
function nextWholeCollection(): Promise<Collection> {
  return new Promise((resolve) => {
    const observer = new PerformanceObserver((list) => {
      const found = (list.getEntries() as (PerformanceEntry & { detail?: Collection })[])
        .map(({ detail }) => detail)
        .find((detail) => detail?.kind === constants.NODE_PERFORMANCE_GC_MAJOR);
      if (!found) return;
      observer.disconnect();
      resolve(found);
    });
    observer.observe({ entryTypes: ['gc'] });
  });
}

/** V8 needs 20 ms. Without a cause it collects this process by itself after half a minute. */
const MOST_MS = 10_000;

describe('a collection in steps', () => {
  it(
    'is begun by V8 itself, and leaves nothing resident of what made it begin',
    async () => {
      const before = process.memoryUsage.rss();
      const collected = nextWholeCollection();
      const end = beginCollection();
      expect((process.memoryUsage.rss() - before) / 1024 / 1024).toBeLessThan(40);
      expect((await collected).kind).toBe(constants.NODE_PERFORMANCE_GC_MAJOR);
      end();
    },
    MOST_MS,
  );
});
