import { describe, expect, it } from '@jest/globals';
import { forbiddenBy } from '../../../gateway/policy/handoff.js';

const rule = (from: string, to: string, allow: boolean) => ({ from, to, allow });

describe('the rules for handing files on', () => {
  it('what no rule speaks of is allowed', () => {
    expect(forbiddenBy([], 'bank', 'evil')).toBeUndefined();
    expect(forbiddenBy([rule('bank', 'evil', false)], 'bank', 'docs')).toBeUndefined();
    expect(forbiddenBy([rule('bank', 'evil', false)], 'docs', 'evil')).toBeUndefined();
  });

  it('a rule holds for the servers that it names, and * for any', () => {
    for (const [from, to] of [
      ['bank', 'evil'],
      ['*', 'evil'],
      ['bank', '*'],
      ['*', '*'],
    ] as const) {
      const rules = [rule(from, to, false)];
      expect(forbiddenBy(rules, 'bank', 'evil')).toBe(rules[0]);
    }
  });

  it('the first that matches decides', () => {
    const exception = [rule('bank', 'docs', true), rule('bank', '*', false)];
    expect(forbiddenBy(exception, 'bank', 'docs')).toBeUndefined();
    expect(forbiddenBy(exception, 'bank', 'evil')).toBe(exception[1]);
    expect(forbiddenBy(exception.toReversed(), 'bank', 'docs')).toBe(exception[1]);
  });

  it('an upload is the caller’s own, and a server’s file may go back to it', () => {
    const never = [rule('*', '*', false)];
    expect(forbiddenBy(never, '', 'evil')).toBeUndefined();
    expect(forbiddenBy(never, 'bank', 'bank')).toBeUndefined();
  });
});
