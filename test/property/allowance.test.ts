import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type AllowanceRules, allowanceOf, CALLER_LIMITS, type CallerLimits } from '../../gateway/policy/allowance.js';
import { type KnownCaller, meansCaller } from '../../gateway/policy/callers.js';
import { runs } from '../helpers/effort.js';

const name = fc.constantFrom('a', 'b', 'c');
const value = fc.integer({ min: 1, max: 100 });
const limits = fc.record<CallerLimits>(
  Object.fromEntries(CALLER_LIMITS.map((one) => [one, value])) as Record<keyof CallerLimits, fc.Arbitrary<number>>,
  { requiredKeys: [] },
) as fc.Arbitrary<Partial<CallerLimits>>;
const match = fc.record({ principal: name, key: name, group: name }, { requiredKeys: [] });
const rules: fc.Arbitrary<AllowanceRules> = fc.record({
  ceiling: limits,
  base: limits,
  callers: fc.array(fc.record({ match, limits }), { maxLength: 3 }),
  keys: fc.array(fc.tuple(name, limits), { maxLength: 3 }).map((all) => new Map(all)),
});
const caller: fc.Arbitrary<KnownCaller> = fc.record(
  { principal: name, key: name, groups: fc.array(name, { maxLength: 2 }) },
  { requiredKeys: ['groups'] },
);

describe('what a caller may use', () => {
  it('is the most specific setting, which nothing raises above the ceiling', () => {
    fc.assert(
      fc.property(rules, caller, (of, who) => {
        const allowance = allowanceOf(of, who);
        for (const one of CALLER_LIMITS) {
          const settings = [
            who.key === undefined ? undefined : of.keys.get(who.key)?.[one],
            ...of.callers.filter((entry) => meansCaller(entry.match, who)).map((entry) => entry.limits[one]),
            of.base[one],
          ].filter((found) => found !== undefined);
          const most = of.ceiling[one];
          const [first] = settings;
          const expected = most === undefined ? first : Math.min(first ?? most, most);
          expect(allowance[one]?.value).toBe(expected);
        }
      }),
      { numRuns: runs(2000) },
    );
  });

  it('names the place that sets it, which holds that very value', () => {
    fc.assert(
      fc.property(rules, caller, (of, who) => {
        const { accept: _, acceptResults: __, ...allowance } = allowanceOf(of, who);
        for (const [one, set] of Object.entries(allowance)) {
          const [, index] = /^callers\[(\d)\]/.exec(set.source) ?? [];
          const limit = one as keyof CallerLimits;
          const places = [
            [/^ceiling/, of.ceiling[limit]],
            [/^limits/, of.base[limit]],
            [/^callers/, of.callers[Number(index)]?.limits[limit]],
            [/^auth/, of.keys.get(who.key ?? '')?.[limit]],
          ] as const;
          expect(places.find(([pattern]) => pattern.test(set.source))?.[1]).toBe(set.value);
        }
      }),
      { numRuns: runs(2000) },
    );
  });
});
