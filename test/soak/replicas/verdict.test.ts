import { describe, expect, it } from '@jest/globals';
import type { Found } from './messages.js';
import { replicasReport } from './report.js';
import { broken, figuresOf, PHASES, type PhasedCall, type PhaseName } from './verdict.js';

const call = (phase: PhaseName, error?: string): PhasedCall => ({
  ...{ type: 'honest', kind: 'echo', ms: 5, phase },
  ...(error !== undefined && { error }),
});
const quiet = PHASES.map((phase) => call(phase));
const FOUND: Found = { type: 'found', links: 3, uploads: 2, lost: [], refused: 1, readable: [] };

describe('what a soak of two replicas says', () => {
  it.each<[string, PhasedCall[], Found | undefined, string[]]>([
    ['nothing failed', quiet, FOUND, []],
    ['a call failed while a replica was gone', [...quiet, call('one killed', 'reset')], FOUND, []],
    ['a call failed while Redis was gone', [...quiet, call('no Redis', '503')], FOUND, []],
    [
      'a call failed after a replica was back',
      [...quiet, call('both again', 'reset')],
      FOUND,
      ['1 calls failed in "both again"'],
    ],
    ['a call failed before anything happened', [...quiet, call('both', 'no')], FOUND, ['1 calls failed in "both"']],
    ['a phase without calls', quiet.slice(1), FOUND, ['there was no call in "both"']],
    ['nothing was asked for again', quiet, undefined, ['what was given was not asked for again']],
    ['no upload occurred', quiet, { ...FOUND, uploads: 0 }, ['a kind of file did not occur']],
    [
      'an acknowledged file is lost',
      quiet,
      { ...FOUND, lost: ['f_1: gone'] },
      ['1 acknowledged files are lost, such as f_1: gone'],
    ],
    [
      'a refused file can be read',
      quiet,
      { ...FOUND, readable: ['f_2'] },
      ['1 refused files can be read, such as f_2'],
    ],
  ])('%s', (_, calls, found, faults) => {
    expect(broken(figuresOf(calls), found)).toEqual(faults);
  });

  it('counts errors together that differ in ids alone', () => {
    const calls = [
      call('no Redis', 'f_abc is gone after 31 ms'),
      call('no Redis', 'f_xyz is gone after 7 ms'),
      call('no Redis', 'another'),
    ];
    expect(figuresOf(calls).find(({ phase }) => phase === 'no Redis')?.texts).toEqual([
      ['echo: FILE is gone after N ms', 2],
      ['echo: another', 1],
    ]);
  });

  it('names what did not hold at the top of the report', () => {
    const seen = { facts: ['a fact'], found: { ...FOUND, lost: ['f_1: gone'] }, memory: [] };
    expect(replicasReport({ ...seen, figures: figuresOf(quiet) })).toContain(
      '**Not passed**: 1 acknowledged files are lost, such as f_1: gone.',
    );
  });
});
