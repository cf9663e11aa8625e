import { describe, expect, it } from '@jest/globals';
import { joinPath, PathKeys, spell } from '../../../gateway/schema/argument-path.js';

describe('the path of an argument in a text', () => {
  it('has names as long as a server may mean them', () => {
    const name = 'n'.repeat(1024);
    expect(spell([name, 0, 'b'])).toBe(`${name}[0].b`);
    expect(joinPath([name, '[]', 'b'])).toBe(`${name}[].b`);
  });

  it('has no more of a longer name than a text can bear, however often it is repeated', () => {
    const name = '"'.repeat(1_000_000);
    const begin = `${'"'.repeat(1024)}…`;
    expect(spell([name, 1, name])).toBe(`${begin}[1].${begin}`);
    expect(joinPath([name, '[]', name])).toBe(`${begin}[].${begin}`);
  });
});

describe('keys of paths', () => {
  it('are equal for equal paths alone', () => {
    const keys = new PathKeys();
    const paths = [['a', 'b'], ['a.b'], ['a'], ['b', 'a'], ['a', 'b', '[]'], ['0'], ['1'], ['__proto__']];
    const of = paths.map((path) => keys.of(path));
    expect(new Set(of).size).toBe(paths.length);
    expect(paths.map((path) => keys.of([...path]))).toEqual(of);
  });
});
