import { describe, expect, it } from '@jest/globals';
import { holdsAll, scopesOf, scopesOfTool, widened } from '../../../gateway/policy/scopes.js';

describe('the scopes of a token', () => {
  it('are those that it names, and what they include, to the end of a chain or a circle', () => {
    const implies = { admin: ['write'], write: ['read'], read: ['write'] };
    expect(widened(['admin', 'other'], implies)).toEqual(['admin', 'other', 'write', 'read']);
  });

  it.each(['constructor', '__proto__', 'toString'])('may be called %s', (scope) => {
    expect(widened([scope], { admin: ['read'] })).toEqual([scope]);
  });
});

describe('the scopes that a server needs', () => {
  const RULES = { '*': ['mcp'], hr: ['hr:read'], open: [], 'hr.delete_*': ['hr:write'], '*.admin': ['root', 'mcp'] };

  it.each([
    ['hr', ['hr:read']],
    ['docs', ['mcp']],
    ['open', []],
  ])('are its own, or else those of every server: %s', (server, own) => {
    expect(scopesOf(RULES, server).own).toEqual(own);
  });

  it('are named together, each once, with those of its tools and not of the tools of another server', () => {
    expect(scopesOf(RULES, 'hr').all).toEqual(['hr:read', 'hr:write', 'root', 'mcp']);
    expect(scopesOf(RULES, 'docs').all).toEqual(['mcp', 'root']);
  });

  it.each([
    ['hr', 'delete_user', ['hr:read', 'hr:write']],
    ['hr', 'Delete_User', ['hr:read', 'hr:write']],
    ['hr', 'list_users', ['hr:read']],
    ['docs', 'delete_user', ['mcp']],
    ['docs', 'admin', ['mcp', 'root']],
    ['hr', 'admin', ['hr:read', 'root', 'mcp']],
  ])('for a call at %s of %s are those of the server, and what the tool needs besides', (server, tool, scopes) => {
    expect(scopesOfTool(scopesOf(RULES, server), tool)).toEqual(scopes);
  });

  it.each(['constructor', '__proto__', 'toString'])('are those of every server for one called %s', (server) => {
    expect(scopesOf(RULES, server).own).toEqual(['mcp']);
  });

  it('must all be granted', () => {
    expect(holdsAll(['a', 'b', 'c'], ['c', 'a'])).toBe(true);
    expect(holdsAll(['a'], ['a', 'b'])).toBe(false);
    expect(holdsAll([], [])).toBe(true);
  });
});
