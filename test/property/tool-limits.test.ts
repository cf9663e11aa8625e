import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type AllowanceRules, allowanceOf } from '../../gateway/policy/allowance.js';
import { DEFAULT_LIMITS } from '../../gateway/policy/limits.js';
import {
  type LimitsOfSide,
  lowestOf,
  MESSAGE_LIMITS,
  type MessageLimits,
} from '../../gateway/policy/message-limits.js';
import { TOOL_MESSAGE_LIMITS, ToolLimits } from '../../gateway/policy/tool-limits.js';
import { Allowances } from '../../gateway/quotas/allowances.js';
import { runs } from '../helpers/effort.js';
import { silentLog } from '../helpers/silent-log.js';

const value = fc.integer({ min: 1, max: 100 });
const some = (names: readonly string[]) =>
  fc.record(Object.fromEntries(names.map((one) => [one, value])), { requiredKeys: [] }) as fc.Arbitrary<
    Partial<MessageLimits> & { exchanges?: number; requestsPerMinute?: number }
  >;
const ofMessages = some(MESSAGE_LIMITS);
const toolName = fc.constantFrom('a', 'ab', 'b', 'c');
const entryName = fc.constantFrom('a', 'ab', 'b', 'a*', '*b', '*');
const tools = fc
  .array(fc.tuple(entryName, some([...TOOL_MESSAGE_LIMITS, 'exchanges', 'requestsPerMinute'])), { maxLength: 5 })
  .map((all) => Object.fromEntries(all.map(([name, limits]) => [name, { limits }])));
const rules: fc.Arbitrary<AllowanceRules> = fc.record({
  ceiling: some([...MESSAGE_LIMITS, 'exchanges', 'requestsPerMinute']),
  base: fc.constant({}),
  callers: fc.array(fc.record({ match: fc.constant({}), limits: ofMessages }), { maxLength: 2 }),
  keys: ofMessages.map((limits) => new Map([['k', limits]])),
});
const server = ofMessages.map((own) => ({ ...DEFAULT_LIMITS, ...own }));

/** What one side says of each message, without the places. */
function sideOf(of: AllowanceRules, key: string | undefined): LimitsOfSide {
  const allowance = allowanceOf(of, { ...(key !== undefined && { key }), groups: [] });
  return Object.fromEntries(MESSAGE_LIMITS.flatMap((one) => (allowance[one] ? [[one, allowance[one].value]] : [])));
}

describe('the limits of a call', () => {
  it('are never more than the ceiling, or than any side that sets them, however many there are', () => {
    fc.assert(
      fc.property(
        server,
        rules,
        fc.option(fc.constant('k'), { nil: undefined }),
        ofMessages,
        tools,
        toolName,
        (...all) => {
          const [own, of, key, host, settings, tool] = all;
          const caller = sideOf(of, key);
          const set = new ToolLimits('s', settings);
          const limits = set.lower(lowestOf(own, caller, host), [tool]);
          for (const one of MESSAGE_LIMITS) {
            const sides = [own[one], caller[one], host[one], set.of(tool)?.side[one], of.ceiling[one]];
            const given = sides.filter((side) => side !== undefined);
            expect(limits[one]).toBe(Math.min(...given));
          }
        },
      ),
      { numRuns: runs(2000) },
    );
  });

  it('name the tool as their place exactly where its own value counts', () => {
    fc.assert(
      fc.property(server, ofMessages, tools, toolName, (own, host, settings, tool) => {
        const before = lowestOf(own, host);
        const limits = new ToolLimits('s', settings).lower(before, [tool]);
        for (const one of MESSAGE_LIMITS) {
          const [, entry = ''] =
            /^servers\.s\.tools(?:\.|\[")(.+?)(?:"\])?\.limits\./.exec(limits.sources?.[one] ?? '') ?? [];
          if (limits[one] < before[one]) expect(settings[entry]?.limits[one]).toBe(limits[one]);
          else expect(entry).toBe('');
        }
      }),
      { numRuns: runs(2000) },
    );
  });

  it('count no more calls than the ceiling', () => {
    fc.assert(
      fc.property(rules, tools, toolName, (of, settings, tool) => {
        const state = {
          create: async () => true,
          read: async () => undefined,
          replace: async () => true,
          extend: async () => true,
        };
        const allowances = new Allowances(of, { state, log: silentLog } as unknown as ConstructorParameters<
          typeof Allowances
        >[1]);
        const amounts = new ToolLimits('s', settings).of(tool)?.amounts ?? {};
        for (const one of ['exchanges', 'requestsPerMinute'] as const) {
          const set = amounts[one];
          const most = of.ceiling[one];
          if (!set) continue;
          expect(allowances.capped(set, one).value).toBe(Math.min(set.value, most ?? set.value));
        }
      }),
      { numRuns: runs(1000) },
    );
  });
});
