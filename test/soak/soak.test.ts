import { describe, expect, it } from '@jest/globals';
import { ceiling } from './chart.js';
import { chart, passed, report, type Seen } from './report.js';
import { judge, type TimedCall } from './verdict.js';

const call = (phase: TimedCall['phase'], ms: number, error?: string): TimedCall => ({
  ...{ type: 'honest', kind: 'echo', ms, phase, at: phase === 'quiet' ? 10 : 70 },
  ...(error !== undefined && { error }),
});

const STRETCHES = [
  { name: 'quiet', from: 0, to: 60, colour: '#ddf4ff' },
  { name: 'hostile', from: 60, to: 120, colour: '#ffebe9' },
];

function seen(calls: TimedCall[]): Seen {
  const sample = { rss: 100e6, heap: 50e6, held: 0, partMemory: 0, loop: 12, connections: 3, exchanges: 1 };
  return {
    facts: ['a fact'],
    samples: Array.from({ length: 120 }, (_, at) => ({ ...sample, at, cpu: 0.5, waited: 10 })),
    calls,
    kinds: judge(calls),
    peers: [{ name: 'drips', does: 'sends little', run: async () => undefined }],
    outcomes: new Map([['drips', { closed: 3 }]]),
    stretches: STRETCHES,
    checks: [],
  };
}

describe('what a soak says', () => {
  it.each<[string, TimedCall[], boolean]>([
    ['calls as slow as quiet ones', [call('quiet', 400), call('hostile', 400)], true],
    ['a call of three times the slowest quiet one', [call('quiet', 400), call('hostile', 1200)], true],
    ['a slower one', [call('quiet', 400), call('hostile', 1201)], false],
    ['ratios of what is short anyway', [call('quiet', 3), call('hostile', 700)], true],
    ['an error', [call('quiet', 3), call('hostile', 3), call('hostile', 3, 'no')], false],
    ['an error before any client was hostile', [call('quiet', 3, 'no'), call('quiet', 3), call('hostile', 3)], false],
    ['a kind of call that never came to an end among hostile peers', [call('quiet', 3)], false],
    ['no call at all', [], false],
  ])('%s', (_, calls, isOk) => {
    expect(passed(seen(calls))).toBe(isOk);
  });

  it('is a table to read and a chart to look at, the same for the same figures', () => {
    const ours = seen([call('quiet', 400), call('hostile', 500)]);
    expect(report(ours)).toContain('| echo | 400 ms | 400 ms | 400 ms | 500 ms |');
    expect(report(ours)).toContain('closed ×3');
    const drawn = chart(ours);
    expect(drawn).toBe(chart(seen([call('quiet', 400), call('hostile', 500)])));
    expect(drawn.length).toBeLessThan(30_000);
    expect(drawn).not.toContain('NaN');
  });

  it('has round figures at the scale', () => {
    expect([0, 1, 3, 7, 12, 230, 999].map(ceiling)).toEqual([1, 1, 5, 10, 20, 500, 1000]);
  });
});
