import { describe, expect, it } from '@jest/globals';
import { widened } from '../../../gateway/policy/scopes.js';

describe('the scopes of a token', () => {
  it('are those that it names, and what they include, to the end of a chain or a circle', () => {
    const implies = { admin: ['write'], write: ['read'], read: ['write'] };
    expect(widened(['admin', 'other'], implies)).toEqual(['admin', 'other', 'write', 'read']);
  });

  it.each(['constructor', '__proto__', 'toString'])('may be called %s', (scope) => {
    expect(widened([scope], { admin: ['read'] })).toEqual([scope]);
  });
});
