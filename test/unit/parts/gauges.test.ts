import { expect, it } from '@jest/globals';
import { gaugeParts } from '../../../gateway/parts/gauges.js';

it('tells that no file waits for the antivirus where there is no antivirus', () => {
  const read = new Map<string, () => number>();
  const metrics = {
    count() {},
    observe() {},
    gauge: (name: string, value: () => number) => void read.set(name, value),
    gauges() {},
  };
  const measured = { antivirus: undefined } as unknown as Parameters<typeof gaugeParts>[1];
  gaugeParts(metrics, measured);
  expect(read.get('wharf_waiting_scans')?.()).toBe(0);
});
