import { describe, expect, it } from '@jest/globals';
import { type CallerMatch, type KnownCaller, meansCaller } from '../../../gateway/policy/callers.js';
import { rulesAbout } from '../../../gateway/policy/rules-about.js';

const about = (rules: readonly CallerMatch[], who: KnownCaller) => rulesAbout(rules, who, (rule) => rule);

const ANNA: KnownCaller = { principal: 'anna', groups: ['hr', 'staff', 'hr'], claims: { department: 'finance' } };
const CI: KnownCaller = { principal: 'ci', key: 'ci', groups: [] };

const RULES: readonly CallerMatch[] = [
  { group: 'staff' },
  { key: 'c*' },
  { principal: 'anna', group: 'hr' },
  { principal: 'anna', group: 'it' },
  { claim: { department: 'finance' } },
  { key: 'ci', principal: 'ci' },
  { group: 'h*' },
  { group: 'hr', principal: 'a*' },
  {},
  { key: 'anna' },
  { principal: 'staff' },
  { group: 'hr' },
];

describe('the rules about a caller', () => {
  it.each([
    ['a caller with a token', ANNA],
    ['a caller with a key', CI],
    ['a caller of whom only a group is known', { groups: ['hr'] }],
    ['a caller that no rule names', { principal: 'bob', groups: ['x', 'constructor', '__proto__'] }],
  ])('are those that mean it, each once and in their order: %s', (_, who) => {
    const places = RULES.flatMap((rule, place) => (meansCaller(rule, who) ? [place] : []));
    expect(about(RULES, who)).toEqual(places);
  });

  it('are found without a look at those that name others', () => {
    let asked = 0;
    const named = (group: string): CallerMatch => ({
      get group() {
        asked += 1;
        return group;
      },
    });
    const rules = Array.from({ length: 1000 }, (_, index) => named(`g${index}`));
    about(rules, CI);
    asked = 0;
    expect(about(rules, { principal: 'a', groups: ['g7', 'g999', 'other'] })).toEqual([7, 999]);
    expect(asked).toBeLessThan(10);
  });

  it('are found once for all requests with one credential', () => {
    const rules = [{ group: 'st*' }];
    const first = about(rules, { ...ANNA, base: ANNA });
    expect(first).toEqual([0]);
    expect(about(rules, { ...ANNA, base: ANNA })).toBe(first);
  });
});
