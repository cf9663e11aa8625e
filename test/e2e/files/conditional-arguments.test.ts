import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { valueAt } from '../../../gateway/json/value.js';
import type { JsonObject } from '../../../gateway/ports/json.js';

import { connect, F4, type Json, type Lab, lab } from './recording-lab.js';
import { declared, shownTools, tool } from './sep-2356-lab.js';
import { upload } from './sep-2631-lab.js';

/** An object with this key, written as it is, would be taken for a promise. */
const THEN = 'then';
const BASE64 = { type: 'string', contentEncoding: 'base64' };
const KIND = { kind: { type: 'string' } };
const of = (name: string, schema: Json) => ({ name, inputSchema: { type: 'object', ...schema } });
const data = { type: 'object', properties: { data: BASE64 } };

/** A tool, where its file is in its schema, and the arguments with this file. */
const TOOLS: [sentence: string, tool: Json, at: (string | number)[], args: (file: unknown) => Json][] = [
  [
    'beside anyOf, which says what goes together',
    of('either', {
      properties: { data: BASE64, url: { type: 'string' } },
      anyOf: [{ required: ['url'] }, { required: ['data'] }],
    }),
    ['properties', 'data'],
    (file) => ({ data: file }),
  ],
  [
    'beside allOf with a condition',
    of('due', {
      properties: { ...KIND, data: BASE64 },
      allOf: [{ if: { required: ['kind'] }, [THEN]: { required: ['data'] } }],
    }),
    ['properties', 'data'],
    (file) => ({ kind: 'a', data: file }),
  ],
  [
    'in an object beside oneOf',
    tool('inner', { a: { ...data, oneOf: [{ required: ['data'] }, { required: ['url'] }] } }),
    ['properties', 'a', 'properties', 'data'],
    (file) => ({ a: { data: file } }),
  ],
  [
    'in a branch that says more of it than the tool itself',
    of('branch', { properties: { data: {} }, anyOf: [{ required: ['url'] }, data] }),
    ['anyOf', 1, 'properties', 'data'],
    (file) => ({ data: file }),
  ],
  [
    'in then',
    of('then', { properties: KIND, if: { required: ['kind'] }, [THEN]: data }),
    ['then', 'properties', 'data'],
    (file) => ({ kind: 'a', data: file }),
  ],
  [
    'in else',
    of('else', { properties: KIND, if: { required: ['kind'] }, [THEN]: {}, else: data }),
    ['else', 'properties', 'data'],
    (file) => ({ data: file }),
  ],
  [
    'in then of a branch of allOf',
    of('both', { properties: KIND, allOf: [{ if: { required: ['kind'] }, [THEN]: data }] }),
    ['allOf', 0, 'then', 'properties', 'data'],
    (file) => ({ kind: 'a', data: file }),
  ],
  [
    'in dependentSchemas, by a reference',
    of('dependent', { properties: KIND, dependentSchemas: { kind: { $ref: '#/$defs/more' } }, $defs: { more: data } }),
    ['dependentSchemas', 'kind', 'properties', 'data'],
    (file) => ({ kind: 'a', data: file }),
  ],
  [
    'in the items of a list, in then',
    tool('items', { pages: { type: 'array', items: { type: 'object', properties: KIND, if: {}, [THEN]: data } } }),
    ['properties', 'pages', 'items', 'then', 'properties', 'data'],
    (file) => ({ pages: [{ kind: 'a', data: file }] }),
  ],
];
const NAMES = TOOLS.map(([, { name }]) => String(name));

describe('a file argument that a schema describes', () => {
  let tools: Lab;
  let handle: string;
  let shown: Awaited<ReturnType<typeof shownTools>>;

  beforeAll(async () => {
    tools = await lab([
      ...TOOLS.map(([, one]) => one),
      tool('marked', { a: { if: {}, [THEN]: { type: 'string', 'x-mcp-file': 'yes' } } }),
    ]);
    handle = await upload(tools.client, F4, 'a.bin', 'application/octet-stream');
    shown = await shownTools(tools.client);
  });

  afterAll(() => tools.stop());

  it.each(TOOLS)(
    '%s is shown as one, and its server gets the bytes (2356-03, 2631-18)',
    async (_where, { name }, at, args) => {
      const { inputSchema } = shown[NAMES.indexOf(String(name))] ?? {};
      const schema = valueAt(inputSchema as unknown as JsonObject, at) as Json;
      expect(schema).toMatchObject({
        type: 'string',
        format: 'uri',
        'x-mcp-file': { transferModes: ['inline', 'upload'] },
      });
      expect(schema).not.toHaveProperty('contentEncoding');
      expect(schema.description).toMatch(/Pass a file handle/);
      expect(await tools.sent(String(name), args(handle))).toEqual(args(F4.toString('base64')));
    },
  );

  it('stays a text that takes a handle for clients that look for objects, where it is there on a condition', async () => {
    const config = { clients: [{ match: { name: 'openai' }, dialects: ['openai-file-params'] }] };
    const openai = await lab([TOOLS[4]?.[1] as Json, tool('top', { data: declared() })], {
      config,
      about: { name: 'openai' },
    });
    const [then, top] = (await shownTools(openai.client)) as unknown as JsonObject[];
    expect(valueAt(then, ['inputSchema', 'properties', 'data'])).toBeUndefined();
    expect(valueAt(then, ['inputSchema', 'then', 'properties', 'data', 'type'])).toBe('string');
    expect(valueAt(top, ['inputSchema', 'properties', 'data', 'type'])).toBe('object');
    await openai.stop();
  });

  it('in then with a malformed keyword is an ordinary one (2356-10)', async () => {
    const client = await connect(tools.wharf.mcp);
    const marked = (await shownTools(client))[TOOLS.length] as unknown as JsonObject;
    expect(valueAt(marked, ['inputSchema', 'properties', 'a', 'then'])).toEqual({ type: 'string' });
  });
});
