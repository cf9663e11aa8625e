import { describe, expect, it } from '@jest/globals';
import type { JsonObject, JsonValue } from '../../../gateway/ports/json.js';
import { Budget } from '../../../gateway/schema/budget.js';
import { meaningsOf } from '../../../gateway/schema/meanings.js';
import { pointed } from '../../../gateway/schema/reference.js';
import { alternatives, eachArgument } from '../../../gateway/schema/walk.js';

const ROOT: JsonObject = {
  $defs: {
    'a b/c~d': { type: 'string' },
    list: [{ type: 'null' }],
    '%41': { type: 'integer' },
    loop: { $ref: '#/$defs/loop' },
  },
};

describe('a local reference', () => {
  it.each<[string, JsonValue | undefined]>([
    ['#', ROOT],
    ['#/$defs/a%20b~1c~0d', { type: 'string' }],
    ['#/$defs/a b~1c~0d', { type: 'string' }],
    ['#/$defs/list/0', { type: 'null' }],
    ['#/$defs/%2541', { type: 'integer' }],
    ['#/$defs/constructor', undefined],
    ['#anchor', undefined],
    ['other.json#/a', undefined],
    [`#/${'a/'.repeat(300)}`, undefined],
  ])('%s', (reference, expected) => {
    expect(pointed(ROOT, reference)).toEqual(expected);
  });

  it.each<[string, JsonObject, JsonValue | undefined]>([
    ['#file', { $defs: { a: { $anchor: 'file', type: 'string' } } }, { $anchor: 'file', type: 'string' }],
    ['#file', { definitions: { a: { $id: '#file' } } }, { $id: '#file' }],
    ['#file', { $defs: { a: { $dynamicAnchor: 'file' } } }, { $dynamicAnchor: 'file' }],
    // two of one name, data, and the names of another document
    ['#file', { $defs: { a: { $anchor: 'file' }, b: { $anchor: 'file' } } }, undefined],
    ['#file', { default: { $anchor: 'file' }, examples: [{ $anchor: 'file' }] }, undefined],
    ['#file', { $defs: { a: { $id: 'https://a/b', $defs: { c: { $anchor: 'file' } } } } }, undefined],
    ['https://a/tool#/$defs/a', { $id: 'https://a/tool', $defs: { a: { type: 'null' } } }, { type: 'null' }],
    ['https://a/tool#file', { $id: 'https://a/tool#', items: { $anchor: 'file' } }, { $anchor: 'file' }],
    ['https://a/tool', { $id: 'https://a/tool' }, { $id: 'https://a/tool' }],
    ['https://a/tools', { $id: 'https://a/tool' }, undefined],
    [
      'https://a/file',
      { $defs: { a: { $id: 'https://a/file', type: 'null' } } },
      { $id: 'https://a/file', type: 'null' },
    ],
    ['file', { $id: 'https://a/tool', $defs: { a: { $id: 'https://a/file#' } } }, { $id: 'https://a/file#' }],
    ['https://a/file', { $id: 'https://a/tool', $defs: { a: { $id: 'file' } } }, { $id: 'file' }],
    ['T0', { $defs: { a: { $id: 'T0', type: 'string' } } }, { $id: 'T0', type: 'string' }],
    // two of one address, data, and a schema whose own references are relative to its address
    ['T0', { $defs: { a: { $id: 'T0' }, b: { $id: 'T0' } } }, undefined],
    ['T0', { default: { $id: 'T0' } }, undefined],
    ['T0', { $defs: { a: { $id: 'T0', items: { $ref: '#/$defs/a' } } } }, undefined],
    ['T0', { $defs: { a: { $id: 'T0', items: { $id: 'T1' } } } }, undefined],
  ])('by name or address: %s in %j', (reference, root, expected) => {
    expect(pointed(root, reference)).toEqual(expected);
  });

  it('is the same to `wharf inspect`', () => {
    expect(meaningsOf({ $ref: '#/$defs/a%20b~1c~0d', title: 'T' }, ROOT)).toEqual([{ type: 'string', title: 'T' }]);
    expect(meaningsOf({ $ref: '#/$defs/loop' }, ROOT)).toEqual([]);
  });
});

describe('what a value may be', () => {
  it('is told in the order of the schema, references first', () => {
    const schema = {
      title: 'own',
      $ref: '#/$defs/list/0',
      anyOf: [{ title: 'one', oneOf: [{ title: 'inner' }] }, { title: 'two' }],
    };
    const found = [...alternatives(schema, ROOT, new Budget(100))];
    expect(found.map((one) => one?.title ?? one?.type)).toEqual(['own', 'null', 'one', 'inner', 'two']);
  });

  it('ends where it is too much to be told', () => {
    const cyclic: JsonObject = { $defs: { a: { anyOf: Array.from({ length: 10 }, () => ({ $ref: '#/$defs/a' })) } } };
    const found = [...alternatives({ $ref: '#/$defs/a' }, cyclic, new Budget(1000))];
    expect(found.length).toBeLessThanOrEqual(1001);
    expect(found).toContain(undefined);
  });
});

it('the arguments of a tool are named as slots name them', () => {
  const paths: string[] = [];
  const data = { type: 'string' };
  const input = {
    properties: { pages: { items: { properties: { data } } }, one: { anyOf: [{ properties: { data } }] } },
  };
  eachArgument(input, ({ path }) => {
    paths.push(path.join(' '));
    return false;
  });
  expect(paths).toEqual(['pages', 'pages []', 'pages [] data', 'one', 'one', 'one data']);
});

it.each(['[]', '[]0', '{}', '{}rule'])('an argument is left out whose name would be taken for others: %s', (name) => {
  const input = { properties: { [name]: { type: 'string' }, plain: { type: 'string' } } };
  const found = (options: { propertiesOnly: boolean }) => {
    const paths: string[] = [];
    eachArgument(input, ({ path }) => paths.push(path.join(' ')) < 0, options);
    return paths;
  };
  expect(found({ propertiesOnly: false })).toEqual(['plain']);
  expect(found({ propertiesOnly: true })).toEqual([name, 'plain']);
});
