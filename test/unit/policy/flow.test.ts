import { describe, expect, it } from '@jest/globals';
import {
  ANY_TYPE,
  decideFlow,
  type FlowEffect,
  type FlowMatch,
  type FlowRule,
  rulesOfHandoff,
} from '../../../gateway/policy/flow.js';

const ANN = { principal: 'ann', groups: ['staff'] };
const PNG = { mimeType: 'image/png', size: 1000 };

const rule = (does: FlowEffect, about: FlowMatch = {}): FlowRule => ({ does, place: 'flow[0]', ...about });
const goes = (rules: readonly FlowRule[], origins: readonly string[], to: string, file = PNG) =>
  decideFlow(rules, { origins, to, who: ANN, file });

describe('the rules about files', () => {
  it('let go what no rule speaks of', () => {
    expect(goes([], ['bank'], 'evil')).toBeUndefined();
    expect(goes([rule('deny', { from: 'bank', to: 'evil' })], ['bank'], 'docs')).toBeUndefined();
    expect(goes([rule('deny', { from: 'bank', to: 'evil' })], ['docs'], 'evil')).toBeUndefined();
  });

  it('hold for the servers that they name, with * for any text', () => {
    for (const about of [{ from: 'bank', to: 'evil' }, { from: '*', to: 'ev*' }, { from: 'b*', to: '*' }, {}]) {
      const rules = [rule('deny', about)];
      expect(goes(rules, ['bank'], 'evil')).toBe(rules[0]);
    }
  });

  it('are read in order: the first that matches decides', () => {
    const exception = [rule('allow', { from: 'bank', to: 'docs' }), rule('deny', { from: 'bank' })];
    expect(goes(exception, ['bank'], 'docs')).toBeUndefined();
    expect(goes(exception, ['bank'], 'evil')).toBe(exception[1]);
    expect(goes(exception.toReversed(), ['bank'], 'docs')).toBe(exception[1]);
  });

  it('mean files of no server only without from, and never keep a file from where it comes from', () => {
    expect(goes([rule('deny', { from: '*' })], [], 'evil')).toBeUndefined();
    expect(goes([rule('deny', { to: 'evil' })], [], 'evil')).toBeDefined();
    expect(goes([rule('deny', { from: '*' })], ['bank'], 'bank')).toBeUndefined();
  });

  it('count most strictly for bytes that have come from several servers', () => {
    const rules = [rule('allow', { from: 'docs' }), rule('ask', { from: 'hr' }), rule('deny', { from: 'bank' })];
    expect(goes(rules, ['docs', 'hr'], 'web')).toBe(rules[1]);
    expect(goes(rules, ['hr', 'docs', 'bank'], 'web')).toBe(rules[2]);
    expect(goes(rules, ['docs'], 'web')).toBeUndefined();
  });

  it('may mean types, sizes and callers', () => {
    expect(goes([rule('deny', { types: ['image/*'] })], ['bank'], 'web')).toBeDefined();
    expect(goes([rule('deny', { types: ['application/pdf'] })], ['bank'], 'web')).toBeUndefined();
    expect(goes([rule('deny', { over: 999 })], ['bank'], 'web')).toBeDefined();
    expect(goes([rule('deny', { over: 1000 })], ['bank'], 'web')).toBeUndefined();
    expect(goes([rule('deny', { group: 'staff' })], ['bank'], 'web')).toBeDefined();
    expect(goes([rule('deny', { group: 'guests' })], ['bank'], 'web')).toBeUndefined();
  });

  it('let exactly those types go that they name, and keep every text back as text', () => {
    const goesAs = (does: FlowEffect, types: string[], mimeType: string) =>
      decideFlow([rule(does, { types }), rule('deny', { over: does === 'allow' ? 0 : 10_000 })], {
        ...{ origins: ['bank'], to: 'web', who: ANN },
        file: { mimeType, size: 1000 },
      }) === undefined;
    expect(goesAs('allow', ['text/csv'], 'application/vnd.ms-excel')).toBe(true);
    expect(goesAs('allow', ['image/*'], 'image/png')).toBe(true);
    expect(goesAs('allow', ['application/octet-stream'], 'application/pdf')).toBe(false);
    expect(goesAs('allow', ['text/plain'], 'text/csv')).toBe(false);
    expect(goesAs('deny', ['text/plain'], 'text/csv')).toBe(false);
    expect(goesAs('deny', ['application/octet-stream'], 'application/pdf')).toBe(true);
  });

  it('mean the types too under which its server has given a file: any to keep it back, each to let it go', () => {
    const relabelled = { mimeType: 'text/plain', size: 1000 };
    const given = new Map([['bank', ['text/csv']]]);
    const goesAs = (rules: readonly FlowRule[], types = given, origins = ['bank']) =>
      decideFlow(rules, { origins, given: types, to: 'web', who: ANN, file: relabelled });
    for (const does of ['deny', 'ask'] as const) {
      expect(goesAs([rule(does, { types: ['text/csv'] })])).toBeDefined();
      expect(goesAs([rule(does, { types: ['text/plain'] })])).toBeDefined();
      expect(goesAs([rule(does, { types: ['image/*'] })])).toBeUndefined();
      expect(goesAs([rule(does, { types: ['image/*'] })], new Map([['bank', [ANY_TYPE]]]))).toBeDefined();
    }
    const allowing = (types: string[]) => [rule('allow', { types }), rule('deny')];
    expect(goesAs(allowing(['text/plain']))).toBeDefined();
    expect(goesAs(allowing(['text/*']))).toBeUndefined();
    expect(goesAs(allowing(['text/*']), new Map([['bank', [ANY_TYPE]]]))).toBeDefined();
    // what another server called it is that server's
    expect(goesAs([rule('deny', { from: 'docs', types: ['text/csv'] })], given, ['bank', 'docs'])).toBeUndefined();
  });

  it('decide before a file is read only where nothing depends on what it is', () => {
    const unread = (rules: readonly FlowRule[]) => decideFlow(rules, { origins: ['bank'], to: 'web', who: ANN });
    expect(unread([rule('deny', { from: 'bank' })])).toBeDefined();
    expect(unread([rule('deny', { from: 'bank', types: ['image/png'] })])).toBeUndefined();
    expect(unread([rule('allow', { types: ['image/png'] }), rule('deny', { from: 'bank' })])).toBeUndefined();
  });

  it('take in handoff, as it was', () => {
    const rules = rulesOfHandoff([
      { from: 'bank', to: 'docs', allow: true },
      { from: 'bank', to: '*', allow: false },
    ]);
    expect(goes(rules, ['bank'], 'docs')).toBeUndefined();
    expect(goes(rules, ['bank'], 'evil')).toMatchObject({ does: 'deny', place: 'handoff[1]' });
    expect(goes(rules, [], 'evil')).toBeUndefined();
  });
});
