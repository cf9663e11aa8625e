import { describe, expect, it } from '@jest/globals';
import { patchValue } from '../../../gateway/json/patch.js';
import type { JsonObject } from '../../../gateway/ports/json.js';
import { segmentsOf } from '../../../gateway/schema/argument-path.js';
import { opened } from '../../../gateway/schema/open-place.js';

const text = { type: 'string' };
const open: JsonObject = { type: 'object', properties: { name: text }, additionalProperties: true };
const FILE = { type: 'object', properties: { bytes: text } };

const shown = (path: string, inputSchema: JsonObject): JsonObject => {
  const tool = { name: 't', inputSchema };
  return (patchValue(tool, opened(tool, segmentsOf(path))) as typeof tool).inputSchema;
};

describe('a configured argument that the schema of its tool does not name is shown', () => {
  it.each<[string, string, JsonObject, JsonObject]>([
    ['among named members', 'bytes', open, { ...open, properties: { name: text, bytes: text } }],
    [
      'in the items of a list',
      'all[].bytes',
      { type: 'object', properties: { all: { type: 'array', items: open } } },
      {
        type: 'object',
        properties: { all: { type: 'array', items: { ...open, properties: { name: text, bytes: text } } } },
      },
    ],
    [
      'with all that is on the way to it',
      'all[].bytes',
      open,
      { ...open, properties: { name: text, all: { type: 'array', items: FILE } } },
    ],
    [
      'where the schema says only that it is an object',
      'body.bytes',
      { type: 'object', properties: { body: { type: 'object' } } },
      { type: 'object', properties: { body: FILE } },
    ],
    [
      'where a list says nothing of its items',
      'all[].bytes',
      { type: 'object', properties: { all: { type: 'array' } } },
      { type: 'object', properties: { all: { type: 'array', items: FILE } } },
    ],
    [
      'in the branch that is not null',
      'body.bytes',
      { type: 'object', properties: { body: { anyOf: [open, { type: 'null' }] } } },
      {
        type: 'object',
        properties: {
          body: { anyOf: [{ ...open, properties: { name: text, bytes: text } }, { type: 'null' }] },
        },
      },
    ],
    [
      'behind a reference, of which the others keep their schema',
      'body.bytes',
      { type: 'object', properties: { body: { $ref: '#/$defs/open' } }, $defs: { open } },
      {
        type: 'object',
        properties: { body: { ...open, properties: { name: text, bytes: text } } },
        $defs: { open },
      },
    ],
    [
      'as what the schema says of all other members',
      'bytes',
      { type: 'object', properties: { name: text }, additionalProperties: { type: 'string', description: 'Any.' } },
      {
        type: 'object',
        properties: { name: text, bytes: { type: 'string', description: 'Any.' } },
        additionalProperties: { type: 'string', description: 'Any.' },
      },
    ],
    [
      'in a record of zod',
      'bytes',
      { type: 'object', propertyNames: { type: 'string' }, additionalProperties: text },
      {
        type: 'object',
        propertyNames: { type: 'string' },
        additionalProperties: text,
        properties: { bytes: text },
      },
    ],
    [
      'with what is left open in that',
      'all.one.bytes',
      { type: 'object', properties: { all: { type: 'object', additionalProperties: { type: 'object' } } } },
      {
        type: 'object',
        properties: {
          all: { type: 'object', additionalProperties: { type: 'object' }, properties: { one: FILE } },
        },
      },
    ],
    [
      'in lists of that',
      'some[]',
      { type: 'object', additionalProperties: { $ref: '#/$defs/texts' }, $defs: { texts: { items: text } } },
      {
        type: 'object',
        properties: { some: { $ref: '#/$defs/texts' } },
        additionalProperties: { $ref: '#/$defs/texts' },
        $defs: { texts: { items: text } },
      },
    ],
  ])('%s', (_where, path, schema, whole) => {
    expect(shown(path, schema)).toEqual(whole);
  });

  it.each<[string, string, JsonObject]>([
    ['the schema says nothing of other members', 'bytes', { type: 'object', properties: { name: text } }],
    ['other members are ignored', 'bytes', { type: 'object', properties: { name: text }, additionalProperties: {} }],
    ['other members are refused', 'bytes', { type: 'object', additionalProperties: false }],
    ['a name must be of a pattern', 'bytes', { ...open, propertyNames: { pattern: '^x' } }],
    ['another part may refuse it', 'body.bytes', { properties: { body: { allOf: [open, { maxProperties: 1 }] } } }],
    ['what it says of others has no such place', 'a.bytes', { type: 'object', additionalProperties: text }],
    [
      'a name must be of a pattern, whatever it says of others',
      'bytes',
      { type: 'object', additionalProperties: text, propertyNames: { pattern: '^x' } },
    ],
    ['the value is a text', 'name.bytes', open],
    ['the items are texts', 'all[].bytes', { properties: { all: { type: 'array', items: text } } }],
  ])('but not where %s', (_why, path, schema) => {
    expect(shown(path, schema)).toEqual(schema);
  });
});
