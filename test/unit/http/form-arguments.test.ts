import { describe, expect, it } from '@jest/globals';
import { argumentsOf } from '../../../gateway/http/console/trying/form-arguments.js';
import type { Field } from '../../../gateway/http/console/trying/tool-form.js';

const field = (path: readonly string[], more: Partial<Field> = {}): Field => ({
  kind: 'text',
  path,
  label: '',
  about: undefined,
  isRequired: false,
  hasInner: false,
  hints: [],
  choices: [],
  isMany: false,
  accept: [],
  most: undefined,
  type: undefined,
  initial: '',
  ...more,
});
const filled = (values: readonly string[], others = '') => ({ values: new Map(values.entries()), others });

describe('the arguments of a filled form', () => {
  it('are put beside the others, as last members', () => {
    const fields = [field(['a']), field(['b', 'c']), field(['__proto__'])];
    const { args, problems } = argumentsOf(fields, filled(['x', 'y', 'z'], '{"a":1,"b":{"c":2,"d":3},"e":4}'));
    expect(JSON.stringify(args)).toBe('{"e":4,"a":"x","b":{"d":3,"c":"y"},"__proto__":"z"}');
    expect(problems.size).toBe(0);
  });

  it('go into the items of a list that have none yet, and into new ones', () => {
    const fields = [field(['p', '[]', 'f'], { kind: 'file', isMany: true })];
    const { args } = argumentsOf(fields, filled(['h1 h2 h3'], '{"p":[{"f":"own"},{"n":1}]}'));
    expect(args).toEqual({ p: [{ f: 'own' }, { n: 1, f: 'h1' }, { f: 'h2' }, { f: 'h3' }] });
  });

  it('are refused where there is no object around them', () => {
    const { problems } = argumentsOf([field(['a', 'b']), field(['p', '[]', 'f'])], filled(['x', 'y'], '{"a":1,"p":2}'));
    expect([...problems.keys()]).toEqual([0, 1]);
  });

  it('are many beside very many others, which are not copied for each', () => {
    const others = Object.fromEntries(Array.from({ length: 75_000 }, (_, index) => [`k${index}`, 1]));
    const fields = Array.from({ length: 120 }, (_, index) => field([`f${index}`]));
    const values = fields.map(() => 'x');
    const { args } = argumentsOf(fields, filled(values, JSON.stringify(others)));
    expect(Object.keys(args)).toHaveLength(75_120);
  });
});
