import { describe, expect, it } from '@jest/globals';
import { callerOf, explainAccess, explainLimits } from '../../../gateway/explain/access.js';

const RULES = {
  allow: new Map([['hr', [{ key: 'ci', tools: ['read_*'] }, { group: 'hr' }]]]),
  keys: new Map([['ci', { servers: ['hr'] }]]),
};
const TOOLS = { read_all: { name: 'find' }, delete_all: {}, find: {} };

const told = (asked: { tool?: string; principal?: string; key?: string; groups?: string[] }, server = 'hr') => {
  const question = { tool: undefined, principal: undefined, key: undefined, groups: [], ...asked, server };
  return explainAccess(question, callerOf(question, ['ci']), RULES, TOOLS)
    .trimEnd()
    .split('\n');
};

describe('what is said about who may use what', () => {
  it('is the decision about the server and its rule', () => {
    expect(told({ key: 'ci' })).toEqual([
      'A caller with principal ci, key ci may use the server "hr", by servers.hr.allow[0].',
    ]);
    expect(told({ principal: 'ci' })).toEqual(told({ key: 'ci' }));
    expect(told({})).toEqual(['A caller with neither key nor group may not use the server "hr", by servers.hr.allow.']);
    expect(told({ groups: ['x'] }, 'web')).toEqual([
      'A caller with group x may use the server "web": no rule is about it.',
    ]);
  });

  it('is the decision about a tool, by either of its names', () => {
    const read = told({ key: 'ci', tool: 'read_all' });
    expect(read.slice(1)).toEqual([
      'A caller with principal ci, key ci may use its tool "read_all", by servers.hr.allow[0].',
      'Clients see and call it as "find".',
    ]);
    expect(told({ groups: ['hr'], tool: 'find' }).slice(1)).toEqual([
      'A caller with group hr may use its tool "find", by servers.hr.allow[1].',
      'No client sees it: its name is given to "read_all".',
    ]);
    expect(told({ key: 'ci', tool: 'delete_all' }).at(-1)).toMatch(/refused as unknown/);
  });
});

describe('what is said about the limits of a caller', () => {
  it('is each value with the place that sets it, and what the ceiling has lowered', () => {
    const rules = {
      ceiling: { requestsPerMinute: 100 },
      base: { requestsPerMinute: 60, exchanges: 5 },
      callers: [{ match: { group: 'hr' }, limits: { requestsPerMinute: 500, storedBytes: 2_000_000 } }],
      keys: new Map(),
    };
    const file = { value: 1_000_000, source: 'servers.hr.limits.file' };
    expect(
      explainLimits({ groups: ['hr'] }, rules, file)
        .trimEnd()
        .split('\n'),
    ).toEqual([
      'Its limits:',
      '  exchanges: 5 requests under way at one time, on each replica, by limits.exchanges',
      '  requestsPerMinute: 100 requests a minute, by ceiling.requestsPerMinute; callers[0].limits.requestsPerMinute would allow 500 requests a minute',
      '  uploads: not limited',
      '  file: 1 MB in a file, by servers.hr.limits.file',
      '  filesPerDay: not limited',
      '  bytesPerDay: not limited',
      '  storedBytes: 2 MB kept at one time, by callers[0].limits.storedBytes',
    ]);
  });
});
