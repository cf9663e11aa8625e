import { describe, expect, it } from '@jest/globals';
import { type AccessRules, type AllowRule, decide, isOpen, type KeyScope } from '../../../gateway/policy/access.js';
import type { KnownCaller } from '../../../gateway/policy/callers.js';
import { fits, fitsAny, mayFit } from '../../../gateway/policy/pattern.js';

const rules = (allow: Record<string, AllowRule[]>, keys: Record<string, KeyScope> = {}): AccessRules => ({
  allow: new Map(Object.entries(allow)),
  keys: new Map(Object.entries(keys)),
});
const ANNA: KnownCaller = {
  principal: 'anna',
  groups: ['hr', 'staff'],
  claims: { department: 'finance', roles: ['r1'] },
};
const CI: KnownCaller = { principal: 'ci', key: 'ci', groups: [] };

const allows = (of: AccessRules, identity: KnownCaller, server: string, tool?: string) =>
  decide(of, { identity, server, tool }).allowed;

describe('the rules of who may use what', () => {
  it('leave a server without any open to every caller', () => {
    expect(decide(rules({}), { identity: CI, server: 'hr', tool: 'delete' })).toEqual({
      allowed: true,
      rule: undefined,
    });
    expect(isOpen(rules({}), 'hr')).toBe(true);
    expect(isOpen(rules({ hr: [] }), 'hr')).toBe(false);
    expect(isOpen(rules({ hr: [{}] }), 'hr')).toBe(true);
    expect(isOpen(rules({ hr: [{ tools: ['*'] }] }), 'hr')).toBe(false);
  });

  it.each<[string, AllowRule, boolean, boolean]>([
    ['nothing', {}, true, true],
    ['a principal', { principal: 'anna' }, true, false],
    ['a key', { key: 'c*' }, false, true],
    ['a group', { group: 'hr' }, true, false],
    ['a pattern of groups', { group: 'st*' }, true, false],
    ['a group that neither has', { group: 'h' }, false, false],
    ['a claim', { claim: { department: 'finance' } }, true, false],
    ['a value in a claim that is a list', { claim: { roles: 'r1' } }, true, false],
    ['two claims, of which one is another', { claim: { department: 'finance', roles: 'r2' } }, false, false],
    ['a claim that every object has', { claim: { constructor: 'x' } }, false, false],
    ['a group and a principal, which must both fit', { group: 'hr', principal: 'ci' }, false, false],
  ])('let in whom an entry means by %s', (_, rule, anna, ci) => {
    expect(allows(rules({ hr: [rule] }), ANNA, 'hr')).toBe(anna);
    expect(allows(rules({ hr: [rule] }), CI, 'hr')).toBe(ci);
  });

  it('let in no caller by an empty list', () => {
    expect(decide(rules({ hr: [] }), { identity: ANNA, server: 'hr' })).toEqual({
      allowed: false,
      rule: 'servers.hr.allow',
    });
  });

  it('name the entry that allows', () => {
    const of = rules({ hr: [{ key: 'ci' }, { group: 'staff', tools: ['read_*'] }, { group: 'hr' }] });
    const question = { identity: ANNA, server: 'hr' };
    expect(decide(of, { ...question, tool: 'read_all' }).rule).toBe('servers.hr.allow[1]');
    expect(decide(of, { ...question, tool: 'delete' }).rule).toBe('servers.hr.allow[2]');
  });

  it.each<[string[], string, boolean]>([
    [['read_*'], 'read_all', true],
    [['read_*'], 'reads', false],
    [['*', '!delete_*'], 'delete_all', false],
    [['*', '!delete_*', 'delete_draft'], 'delete_draft', true],
    [['!delete_*'], 'read_all', true],
    [['!delete_*'], 'delete_all', false],
    [['READ_*'], 'read_all', false],
    [[], 'read_all', false],
    [['a*b*c'], 'a-c-b-b-c', true],
    // a server in C reads no further than the NUL
    [['*_read'], 'delete\0_read', false],
    [['*', '!delete'], 'read\0', true],
  ])('read the tools %j of an entry: %s', (tools, tool, allowed) => {
    expect(allows(rules({ hr: [{ tools }] }), ANNA, 'hr', tool)).toBe(allowed);
  });

  it('hold a key to its servers', () => {
    const of = rules({}, { ci: { servers: ['web-*', '!web-admin'] } });
    expect(allows(of, CI, 'web-shop', 'any')).toBe(true);
    expect(allows(of, CI, 'web-admin')).toBe(false);
    expect(decide(of, { identity: CI, server: 'hr' })).toEqual({ allowed: false, rule: 'auth.keys, ci: servers' });
    expect(allows(of, ANNA, 'hr')).toBe(true);
  });

  it('hold a key to its tools, and to the servers that those name', () => {
    const of = rules({}, { ci: { tools: ['hr.read_*', '*.ping'] } });
    expect(allows(of, CI, 'hr', 'read_all')).toBe(true);
    expect(allows(of, CI, 'hr', 'delete')).toBe(false);
    expect(allows(of, CI, 'web', 'ping')).toBe(true);
    const only = rules({}, { ci: { tools: ['hr.read.all'] } });
    expect(allows(only, CI, 'web')).toBe(false);
    expect(allows(only, CI, 'hr', 'read.all')).toBe(true);
    expect(allows(rules({}, { ci: { tools: ['!hr.*'] } }), CI, 'web')).toBe(true);
  });

  it('need both the key and the list of the server', () => {
    const of = rules({ hr: [{ key: 'ci', tools: ['a', 'b'] }] }, { ci: { tools: ['hr.b', 'hr.c'] } });
    expect(['a', 'b', 'c'].filter((tool) => allows(of, CI, 'hr', tool))).toEqual(['b']);
  });
});

describe('a pattern and many names', () => {
  it.each([
    ['b', true],
    ['d', false],
    ['c*', true],
    ['*d', false],
    ['*', true],
  ])('%s fits any of them as it fits one: %s', (pattern, expected) => {
    expect(fitsAny(pattern, new Set(['a', 'b', 'cc']))).toBe(expected);
    expect(fitsAny(pattern, new Set())).toBe(false);
  });

  it('are not compared where the pattern is a name', () => {
    class Unread extends Set<string> {
      override [Symbol.iterator](): SetIterator<string> {
        throw new Error('read');
      }
    }
    expect(fitsAny('a', new Unread())).toBe(false);
    expect(() => fitsAny('a*', new Unread())).toThrow('read');
  });
});

describe('a name in another spelling', () => {
  it.each(['Delete_user', 'DELETE_USER', '\uff44elete_user', 'dele\u200bte_user', ' delete_user'])(
    'may be meant by a pattern that takes away, and never by one that gives: %j (G35)',
    (name) => {
      expect([mayFit('delete_*', name), fits('delete_*', name)]).toEqual([true, false]);
      expect(mayFit('read_*', name)).toBe(false);
    },
  );

  it.each([
    ['a Hangul filler', 'delete_l\u3164ist'],
    ['a variation selector', 'delete_list\ufe0f'],
    ['a combining grapheme joiner', 'delete\u034f_list'],
    ['half of a surrogate pair', 'delete_list\ud800'],
    ['a dotless i', 'delete_l\u0131st'],
    ['more behind a NUL', 'delete_list\0_of_nothing'],
  ])('may be meant also with %s', (_, name) => {
    expect([mayFit('delete_list', name), fits('delete_list', name)]).toEqual([true, false]);
    expect(mayFit('read_list', name)).toBe(false);
  });

  it('may be meant by any text that is too long to be searched, such as one with many characters that are not seen', () => {
    expect(mayFit('delete_*', `${'\u200b'.repeat(1001)}delete_user`)).toBe(true);
    expect(mayFit('delete_*', 'x'.repeat(2000))).toBe(false);
  });
});
