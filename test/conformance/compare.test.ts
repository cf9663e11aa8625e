import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { rowOf } from './clients.js';
import { differences, hasFailed, hasPassed, score, unused } from './compare.js';
import { EXPECTED_OF_CLIENTS } from './expected-of-clients.js';
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

  it('tells which expected difference has gone', () => {
    expect(unused([row], [])).toEqual([row]);
  });

  it('scores what passed and what failed', () => {
    const mixed = outcome('a SUCCESS', 'a SUCCESS', 'b FAILURE', 'c WARNING');
    expect(score(mixed)).toBe('2/1');
    expect(hasFailed(mixed)).toBe(true);
    expect(hasFailed(outcome('c WARNING'))).toBe(false);
    expect(score(undefined)).toBe('-');
    expect([hasPassed(mixed), hasPassed(outcome('a SUCCESS', 'c WARNING'))]).toEqual([false, true]);
    expect([hasPassed(outcome('a SKIPPED')), hasPassed(undefined)]).toEqual([false, false]);
  });
});

describe('the page of the client scenarios', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/reference/client-conformance.md'), 'utf8');
  const failing = [...page.matchAll(/^\| (\S+) \|.*\*\*fails\*\*.*$/gm)];

  it('has every scenario that is meant to fail, with its reason, and no other', () => {
    const cell = (isFailing: boolean) => (isFailing ? '**fails**' : 'passes');
    const expected = EXPECTED_OF_CLIENTS.map(({ scenario, via, reason }) =>
      rowOf([scenario, 'passes', cell(via.includes('rewrite')), cell(via.includes('verbatim')), reason]),
    );
    expect(failing.map(([row]) => row).sort()).toEqual(expected.sort());
  });

  it('shows at least 45 of 48 where Wharf has the name of the server', () => {
    const [, direct, rewritten, verbatim] = /\*\*all\*\* \| (\d+) of 48 \| (\d+) of 48 \| (\d+) of 48/.exec(page) ?? [];
    expect([direct, rewritten]).toEqual(['48', '36']);
    expect(Number(verbatim)).toBeGreaterThanOrEqual(45);
  });
});
