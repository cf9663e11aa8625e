import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Histogram as PromHistogram, Registry } from 'prom-client';
import { Histogram } from '../../../gateway/http/metrics/histogram.js';

const BUCKETS = [0.001, 0.02, 0.5, 10];
const about = { name: 'a_seconds', help: 'h', buckets: BUCKETS };

async function textOf(registry: Registry): Promise<string[]> {
  return (await registry.metrics()).trim().split('\n').sort();
}

describe('A histogram', () => {
  it('is scraped as one of prom-client, whatever was observed and however its labels were given', async () => {
    const value = fc.oneof(fc.constantFrom(...BUCKETS, 0, 600), fc.double({ min: 0, max: 1000, noNaN: true }));
    const observation = fc.record({ value, server: fc.constantFrom('a', 'b "quoted"\n', ''), isBound: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(observation, { maxLength: 50 }), async (observations) => {
        const theirs = new Registry();
        const prom = new PromHistogram({ ...about, labelNames: ['server'], registers: [theirs] });
        const own = new Registry();
        const histogram = new Histogram({ ...about, labels: ['server'] });
        own.registerMetric(histogram.forRegistry);
        const bound = new Map<string, (value: number) => void>();
        for (const { value, server, isBound } of observations) {
          prom.observe({ server }, value);
          const observe = bound.get(server) ?? histogram.bind({ server });
          if (isBound) {
            bound.set(server, observe);
            observe(value);
          } else histogram.observe({ server }, value);
        }
        expect(await textOf(own)).toEqual(await textOf(theirs));
      }),
      { numRuns: 100 },
    );
  });
});
