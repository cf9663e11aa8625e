import { describe, expect, it } from '@jest/globals';
import { differences, hasFailed, score, unused } from './compare.js';
import type { Outcome } from './suite.js';

const outcome = (...checks: string[]): Outcome => {
  const counted: Outcome = new Map();
  for (const check of checks) counted.set(check, (counted.get(check) ?? 0) + 1);
  return counted;
};

const row = { suite: 's', via: 'stdio', scenario: 'polling', checks: ['resumes'], reason: 'stdio has no streams' };

describe('the comparison of two conformance results', () => {
  it('finds nothing in equal results', () => {
    const one = new Map([['ping', outcome('pong SUCCESS', 'schema SUCCESS')]]);
    const other = new Map([['ping', outcome('schema SUCCESS', 'pong SUCCESS')]]);
    expect(differences(one, other, [])).toEqual([]);
  });

  it('finds a check that ends in another way, also when the scenario fails either way', () => {
    const one = new Map([['ping', outcome('pong SUCCESS', 'schema FAILURE')]]);
    const other = new Map([['ping', outcome('pong FAILURE', 'schema FAILURE')]]);
    expect(differences(one, other, [])).toEqual([
      { scenario: 'ping', check: 'pong', direct: 'SUCCESS', through: 'FAILURE' },
    ]);
  });

  it('finds a scenario, a check and a repetition that is missing', () => {
    const one = new Map([
      ['ping', outcome('pong SUCCESS', 'pong SUCCESS', 'schema SUCCESS')],
      ['tools', outcome('list SUCCESS')],
    ]);
    const other = new Map([['ping', outcome('pong SUCCESS')]]);
    expect(differences(one, other, [])).toEqual([
      { scenario: 'ping', check: 'pong', direct: 'SUCCESS ×2', through: 'SUCCESS' },
      { scenario: 'ping', check: 'schema', direct: 'SUCCESS', through: 'not run' },
      { scenario: 'tools', check: 'list', direct: 'SUCCESS', through: 'not run' },
    ]);
  });

  it('gives an expected difference its reason, and no other', () => {
    const one = new Map([['polling', outcome('resumes SUCCESS', 'primes SUCCESS')]]);
    const other = new Map([['polling', outcome('resumes WARNING', 'primes WARNING')]]);
    const found = differences(one, other, [row]);
    expect(found.map(({ check, reason }) => [check, reason])).toEqual([
      ['resumes', row.reason],
      ['primes', undefined],
    ]);
    expect(unused([row], found)).toEqual([]);
  });

  it('tells which expected difference is none any more', () => {
    expect(unused([row], [])).toEqual([row]);
  });

  it('scores what passed and what failed', () => {
    const mixed = outcome('a SUCCESS', 'a SUCCESS', 'b FAILURE', 'c WARNING');
    expect(score(mixed)).toBe('2/1');
    expect(hasFailed(mixed)).toBe(true);
    expect(hasFailed(outcome('c WARNING'))).toBe(false);
    expect(score(undefined)).toBe('-');
  });
});
