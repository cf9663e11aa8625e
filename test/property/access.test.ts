import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type AccessRules, type AllowRule, decide, isOpen, type KeyScope } from '../../gateway/policy/access.js';
import type { KnownCaller } from '../../gateway/policy/callers.js';
import { runs } from '../helpers/effort.js';

const name = fc.constantFrom('a', 'b', 'ab', 'ba');
const glob = fc.constantFrom('*', 'a', 'b', 'a*', '*b', '!a', '!*b', '!*', '*a*');
const pair = fc
  .tuple(fc.boolean(), fc.constantFrom('*', 'a', 'a*'), fc.constantFrom('*', 'b', '*a', 'a.b'))
  .map(([isTaken, server, tool]) => `${isTaken ? '!' : ''}${server}.${tool}`);
const list = fc.array(glob, { maxLength: 4 });
const who = fc.record<KnownCaller>(
  { principal: name, key: fc.option(name, { nil: undefined }), groups: fc.array(name, { maxLength: 2 }) },
  { requiredKeys: ['groups'] },
);
const allowRule = fc.record<AllowRule>({ principal: name, key: name, group: name, tools: list }, { requiredKeys: [] });
const scope = fc.record<KeyScope>({ servers: list, tools: fc.array(pair, { maxLength: 4 }) }, { requiredKeys: [] });
const rules: fc.Arbitrary<AccessRules> = fc.record({
  allow: fc.array(fc.tuple(name, fc.array(allowRule, { maxLength: 3 })), { maxLength: 3 }).map((all) => new Map(all)),
  keys: fc.array(fc.tuple(name, scope), { maxLength: 3 }).map((all) => new Map(all)),
});

describe('decisions about access', () => {
  it('never allow a tool of a server that the caller may not reach', () => {
    fc.assert(
      fc.property(rules, who, name, name, (of, identity, server, tool) => {
        const isReached = decide(of, { identity, server }).allowed;
        if (decide(of, { identity, server, tool }).allowed) expect(isReached).toBe(true);
      }),
      { numRuns: runs(2000) },
    );
  });

  it('never allow more because a key or a list is added', () => {
    fc.assert(
      fc.property(rules, who, name, name, (of, identity, server, tool) => {
        const question = { identity, server, tool };
        const without = [
          { ...of, allow: new Map() },
          { ...of, keys: new Map() },
        ];
        const { allowed } = decide(of, question);
        expect(allowed).toBe(without.every((fewer) => decide(fewer, question).allowed));
      }),
      { numRuns: runs(2000) },
    );
  });

  it('allow everything where a server is said to be open, and name a rule with each refusal', () => {
    fc.assert(
      fc.property(rules, who, name, fc.option(name, { nil: undefined }), (of, identity, server, tool) => {
        const { allowed, rule } = decide(of, { identity, server, tool });
        if (isOpen(of, server)) expect(allowed).toBe(true);
        if (!allowed) expect(rule).toMatch(/^(?:servers\.|auth\.keys)/);
      }),
      { numRuns: runs(2000) },
    );
  });
});
