import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { ROOT } from '../../helpers/tree-copy.js';
import { applied } from './apply.js';
import { MUTANTS } from './list.js';

/** `npm run mutants` runs the suites against each fault, which takes minutes; this only looks that it still can. */
describe('every seeded fault', () => {
  it.each(Object.entries(MUTANTS))('of the kind %s can still be seeded', async (_kind, mutants) => {
    const outcomes = await Promise.allSettled(mutants.map((mutant) => applied(ROOT, mutant)));
    expect(outcomes.flatMap((one) => (one.status === 'rejected' ? [String(one.reason)] : []))).toEqual([]);
  });

  it('names suites that are there', async () => {
    for (const { suites } of Object.values(MUTANTS).flat())
      for (const suite of suites) await access(join(ROOT, 'test', `${suite}.test.ts`));
  });

  it('has a name of its own', () => {
    const names = Object.values(MUTANTS).flatMap((mutants) => mutants.map(({ name }) => name));
    expect(new Set(names).size).toBe(names.length);
  });

  it('has six or more of its kind', () => {
    for (const [kind, mutants] of Object.entries(MUTANTS)) expect([kind, mutants.length >= 6]).toEqual([kind, true]);
  });
});
