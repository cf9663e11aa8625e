import { describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { Counter } from '../../../gateway/http/metrics/counter.js';

function counter(): Counter {
  return new Counter({ name: 'calls_total', help: 'Calls', labels: ['server', 'outcome'] });
}

describe('a counter', () => {
  it('counts for each combination of labels, in whichever order they are given', () => {
    const calls = counter();
    calls.add({ server: 'a', outcome: 'ok' }, 1);
    calls.add({ outcome: 'ok', server: 'a' }, 2);
    calls.add({ server: 'a', outcome: 'failed' }, 1);
    expect(calls.values()).toEqual([
      { labels: { server: 'a', outcome: 'ok' }, value: 3 },
      { labels: { server: 'a', outcome: 'failed' }, value: 1 },
    ]);
  });

  it('tells values apart that are alike when they stand beside each other', () => {
    const calls = counter();
    calls.add({ server: 'ab', outcome: 'c' }, 1);
    calls.add({ server: 'a', outcome: 'bc' }, 1);
    expect(calls.values().map(({ value }) => value)).toEqual([1, 1]);
  });

  it('keeps its labels when the caller changes its own', () => {
    const calls = counter();
    const labels = { server: 'a', outcome: 'ok' };
    calls.add(labels, 1);
    labels.server = 'b';
    expect(calls.values()[0]?.labels.server).toBe('a');
  });

  it('is scraped as one, with its labels escaped', async () => {
    const registry = new Registry();
    const calls = counter();
    registry.registerMetric(calls.forRegistry);
    calls.add({ server: 'a"b', outcome: 'ok' }, 4);
    expect(await registry.metrics()).toBe(
      '# HELP calls_total Calls\n# TYPE calls_total counter\ncalls_total{server="a\\"b",outcome="ok"} 4\n',
    );
  });
});
