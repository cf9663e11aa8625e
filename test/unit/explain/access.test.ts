import { describe, expect, it } from '@jest/globals';
import { callerOf, explainAccess, unknownCaller } from '../../../gateway/explain/access.js';

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

  it('is nothing where a key was mistyped', () => {
    const said = (asked: { principal?: string; key?: string }, use = 'apiKeys') =>
      unknownCaller({ principal: undefined, key: undefined, ...asked }, ['ci', 'ada'], use);
    expect(said({ key: 'c' })).toBe('c');
    expect(said({ principal: 'else' })).toBe('else');
    for (const known of [{ key: 'ci' }, { principal: 'ada' }, { principal: 'console:ann' }, {}])
      expect(said(known)).toBeUndefined();
    expect(said({ principal: 'https://idp.example|ada' }, 'both')).toBeUndefined();
  });
});
