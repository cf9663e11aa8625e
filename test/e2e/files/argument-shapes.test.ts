import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { RawClient } from '../../helpers/raw-client.js';
import type { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { type Lab, lab } from './recording-lab.js';

const F4 = 'data:application/octet-stream;base64,AAEC/f7/';
const BASE64 = { type: 'string', contentEncoding: 'base64' };
const TOOLS = [
  {
    // as pydantic writes a model with descriptions
    name: 'pydantic',
    inputSchema: {
      type: 'object',
      properties: {
        file: { allOf: [{ $ref: '#/definitions/Bytes' }], description: 'The file' },
        files: { type: 'array', items: { allOf: [{ $ref: '#/definitions/Bytes' }] } },
      },
      definitions: { Bytes: BASE64 },
    },
  },
  {
    name: 'rooted',
    inputSchema: { $ref: '#/$defs/In', $defs: { In: { type: 'object', properties: { file: BASE64 } } } },
  },
  {
    name: 'shouted',
    inputSchema: { type: 'object', properties: { file: { type: 'string', contentEncoding: 'BASE64' } } },
  },
  {
    name: 'generic',
    inputSchema: {
      type: 'object',
      properties: { file: { $ref: '#/$defs/Of%3CBytes~1Text%3E' } },
      $defs: { 'Of<Bytes/Text>': BASE64 },
    },
  },
  {
    // as zod writes a record
    name: 'map',
    inputSchema: {
      type: 'object',
      properties: {
        files: { type: 'object', propertyNames: { type: 'string' }, additionalProperties: BASE64 },
        pages: {
          type: 'object',
          additionalProperties: { type: 'object', properties: { data: BASE64, note: { type: 'string' } } },
        },
      },
    },
  },
  {
    name: 'titled',
    inputSchema: {
      type: 'object',
      properties: { files: { type: 'array', prefixItems: [{ type: 'string' }, { type: 'string' }], items: BASE64 } },
    },
  },
  {
    name: 'patterns',
    inputSchema: {
      type: 'object',
      properties: {
        files: {
          type: 'object',
          properties: { note: { type: 'string' }, img_note: { type: 'string' } },
          patternProperties: {
            '^img_': BASE64,
            _txt$: { type: 'string' },
            // engines may be busy with it for long
            '^(?:a+)+=$': BASE64,
            // it says nothing about a name that it might mean
            '^c(?=d)': BASE64,
          },
        },
        rest: {
          type: 'object',
          properties: { filename: { type: 'string' } },
          patternProperties: { '^x': { type: 'string' } },
          additionalProperties: { type: 'object', properties: { data: BASE64 } },
        },
      },
    },
  },
  {
    name: 'rest',
    inputSchema: { type: 'object', properties: { note: { type: 'string' } }, additionalProperties: BASE64 },
  },
  {
    name: 'tuples',
    inputSchema: {
      type: 'object',
      properties: {
        pair: { type: 'array', minItems: 2, prefixItems: [BASE64, { type: 'string' }] },
        old: { type: 'array', items: [{ type: 'string' }, { type: 'object', properties: { data: BASE64 } }] },
      },
    },
  },
  {
    name: 'short',
    inputSchema: { type: 'object', properties: { file: { ...BASE64, maxLength: 11 } } },
  },
  {
    name: 'examples',
    inputSchema: {
      type: 'object',
      properties: {
        file: { ...BASE64, examples: ['SGVsbG8gd29ybGQh'], example: 'SGVsbG8gd29ybGQh' },
        files: { type: 'array', items: { ...BASE64, examples: ['SGVsbG8gd29ybGQh'] } },
        list: { type: 'array', items: BASE64, examples: [['SGVsbG8gd29ybGQh']], default: ['SGVsbG8gd29ybGQh'] },
        logo: { ...BASE64, default: 'SGVsbG8gd29ybGQh' },
        empty: { ...BASE64, default: '' },
        absent: { type: ['string', 'null'], contentEncoding: 'base64', default: null },
        note: { type: 'string', examples: ['a note'], default: 'SGVsbG8gd29ybGQ/' },
      },
    },
  },
  {
    name: 'prose',
    inputSchema: { type: 'object', properties: { file: { type: 'string', examples: ['Dear Ann'], default: 'none' } } },
  },
  { name: 'uri', inputSchema: { type: 'object', properties: { file: { type: 'string' } } } },
  {
    name: 'header',
    inputSchema: {
      type: 'object',
      properties: { file: { type: 'string', contentEncoding: 'base64', 'x-mcp-header': 'Doc' } },
    },
  },
];

const TELLING = {
  name: 'telling',
  inputSchema: {
    type: 'object',
    properties: {
      file: { type: 'string' },
      name: { type: 'string', 'x-mcp-header': 'Name' },
      type: { type: 'string', 'x-mcp-header': 'Type' },
      size: { type: 'string' },
      named: { type: 'string' },
      constructor: { type: 'string' },
      files: { type: 'array', items: { type: 'string' } },
      pages: { type: 'array', items: { type: 'object', properties: { data: { type: 'string' } } } },
    },
  },
};

let legacy: Lab;
/** With a limit that is soon reached. */
let heavy: Lab;
let upstream: RecordingUpstream;
let client: RawClient;

beforeAll(async () => {
  const base64 = { encoding: 'base64' };
  const telling = { file: { ...base64, name: 'name', mimeType: 'type', size: 'size' } };
  const tools = {
    uri: { files: { file: { encoding: 'dataUri' } } },
    prose: { files: { file: { encoding: 'text' } } },
    telling: {
      files: { ...telling, named: { ...base64, name: 'constructor' }, 'files[]': base64, 'pages[].data': base64 },
    },
  };
  legacy = await lab([...TOOLS, TELLING], { server: { tools } });
  heavy = await lab([...TOOLS, TELLING], { server: { tools }, config: { limits: { values: 1000 } } });
  ({ client, upstream } = legacy);
});

afterAll(async () => {
  await legacy?.stop();
  await heavy?.stop();
});

const calls = () => upstream.with('tools/call').length;

async function schemaOf(name: string): Promise<string> {
  const { result } = await client.request('tools/list');
  const tools = result?.tools as { name: string; inputSchema: unknown }[];
  return JSON.stringify(tools.find((tool) => tool.name === name)?.inputSchema);
}

describe('an argument that is declared as base64', () => {
  it.each([
    ['pydantic', 2, { file: F4, files: [F4] }, { file: 'AAEC/f7/', files: ['AAEC/f7/'] }],
    ['rooted', 1, { file: F4 }, { file: 'AAEC/f7/' }],
    ['shouted', 1, { file: F4 }, { file: 'AAEC/f7/' }],
    ['generic', 1, { file: F4 }, { file: 'AAEC/f7/' }],
  ])('%s: is shown as a file wherever a call takes one', async (name, slots, args, expected) => {
    expect((await schemaOf(name)).match(/"x-mcp-file"/g)).toHaveLength(slots);
    expect(await legacy.sent(name, args)).toEqual(expected);
  });
});

it('a list whose first items are no files takes files behind them alone', async () => {
  const files = ['a title', F4, F4, 'AAEC'];
  expect(await legacy.sent('titled', { files })).toEqual({ files: ['a title', F4, 'AAEC/f7/', 'AAEC'] });
  expect(await legacy.refused('titled', { files: ['a', 'b', 'no file'] })).toMatchObject({ argument: 'files[2]' });
});

describe('a map of files', () => {
  it('takes one in each member, whatever its name, and no text that is none', async () => {
    expect((await schemaOf('map')).match(/"x-mcp-file"/g)).toHaveLength(2);
    const files = { 'a.bin': F4, constructor: F4, '{}': 'AAEC' };
    const pages = { one: { data: F4, note: F4 }, two: {} };
    expect(await legacy.sent('map', { files, pages })).toEqual({
      files: { 'a.bin': 'AAEC/f7/', constructor: 'AAEC/f7/', '{}': 'AAEC' },
      pages: { one: { data: 'AAEC/f7/', note: F4 }, two: {} },
    });
    expect(await legacy.refused('map', { files: { a: F4, b: 'no file' } })).toMatchObject({ argument: 'files.b' });
  });

  it('is read as well where the arguments are too many to be parsed', async () => {
    const other = Array.from({ length: 30_000 }, () => 1);
    const args = { files: { a: F4, b: F4 }, pages: { one: { data: F4 } }, other };
    expect(await heavy.sent('map', args)).toEqual({
      files: { a: 'AAEC/f7/', b: 'AAEC/f7/' },
      pages: { one: { data: 'AAEC/f7/' } },
      other,
    });
  });
});

describe('files that a schema declares without a name for each', () => {
  it('are taken from the members that a pattern means, and from those without a schema of their own', async () => {
    expect((await schemaOf('patterns')).match(/"x-mcp-file"/g)).toHaveLength(4);
    const files = { img_a: F4, img_note: F4, note: F4, b_txt: F4, img_txt: F4, 'aaaa=': F4, cd: F4 };
    const rest = { filename: 'a', y: { data: F4 }, x: { data: F4 } };
    expect(await legacy.sent('patterns', { files, rest })).toEqual({
      files: { ...files, img_a: 'AAEC/f7/', img_txt: 'AAEC/f7/', 'aaaa=': 'AAEC/f7/' },
      rest: { filename: 'a', y: { data: 'AAEC/f7/' }, x: { data: F4 } },
    });
    expect(await legacy.refused('patterns', { files: { img_a: 'no file' } })).toMatchObject({
      argument: 'files.img_a',
    });
  });

  it('are taken from arguments of any name', async () => {
    expect((await schemaOf('rest')).match(/"x-mcp-file"/g)).toHaveLength(1);
    const args = { a: F4, constructor: F4, note: F4 };
    expect(await legacy.sent('rest', args)).toEqual({ a: 'AAEC/f7/', constructor: 'AAEC/f7/', note: F4 });
    expect(await legacy.refused('rest', { b: 'no file' })).toMatchObject({ argument: 'b' });
  });

  it('are taken from their place in a list of unlike items', async () => {
    expect((await schemaOf('tuples')).match(/"x-mcp-file"/g)).toHaveLength(2);
    const sent = await legacy.sent('tuples', { pair: [F4, F4], old: [F4, { data: F4 }] });
    expect(sent).toEqual({ pair: ['AAEC/f7/', F4], old: [F4, { data: 'AAEC/f7/' }] });
    expect(await legacy.refused('tuples', { pair: ['no file', ''] })).toMatchObject({ argument: 'pair[0]' });
  });

  it('are found as well where the arguments are too many to be parsed', async () => {
    const other = Array.from({ length: 30_000 }, () => 1);
    const args = { files: { img_a: F4 }, rest: { y: { data: F4 } }, other };
    expect(await heavy.sent('patterns', args)).toEqual({
      files: { img_a: 'AAEC/f7/' },
      rest: { y: { data: 'AAEC/f7/' } },
      other,
    });
    expect(await heavy.sent('tuples', { pair: [F4, F4], other })).toEqual({ pair: ['AAEC/f7/', F4], other });
    const many = await heavy.client.call('rest', { a: F4, other });
    expect(many.error?.message).toContain('limits.values = 1000');
  });
});

it('examples and defaults in base64 are not shown, for models copy them; those of a text are', async () => {
  const shown = await schemaOf('examples');
  expect(shown).not.toContain('SGVsbG8gd29ybGQh');
  expect(shown).toContain('"examples":["a note"],"default":"SGVsbG8gd29ybGQ/"');
  expect(shown.match(/"default":(?:""|null)/g)).toHaveLength(2);
  expect(await schemaOf('prose')).toContain('"examples":["Dear Ann"],"default":"none"');
});

it('a file whose base64 would be longer than the tool allows is refused, and clients see how large it may be', async () => {
  expect(await schemaOf('short')).toContain('"maxSize":6,');
  expect(await legacy.sent('short', { file: F4 })).toEqual({ file: 'AAEC/f7/' });
  expect(await legacy.refused('short', { file: 'data:,1234567' })).toMatchObject({ maxSize: 6, actualSize: 7 });
});

describe('what stands in the place of one file', () => {
  let before: number;
  beforeEach(() => {
    before = calls();
  });

  it('a list of files is refused, for the server would get their spellings', async () => {
    const { result } = await client.call('shouted', { file: [F4, F4] });
    expect(result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringMatching(/^Argument 'file' is a list of 2, and takes one file/) }],
      _meta: { 'dev.wharf/fileError': { reason: 'malformedUri', argument: 'file' } },
    });
    expect(calls()).toBe(before);
  });

  it.each([5, true, { a: 1 }])(
    '%j is refused where the tool declares a text, also by a reference in allOf',
    async (file) => {
      for (const name of ['shouted', 'pydantic']) {
        expect(await legacy.refused(name, { file })).toMatchObject({ reason: 'malformedUri' });
      }
    },
  );

  it.each([[[1, 2]], [5], [{ a: 1 }]])('%j is between the caller and a tool that declares no file', async (file) => {
    expect(await legacy.sent('uri', { file })).toEqual({ file });
  });

  it.each([
    ['data:,A', 'data:text/plain;base64,QQ=='],
    ['data:text/plain,hello%20world', 'data:text/plain;base64,aGVsbG8gd29ybGQ='],
    ['data:text/plain;base64,QQ', 'data:text/plain;base64,QQ=='],
    ['data:text/plain;base64,QQ%3D%3D', 'data:text/plain;base64,QQ=='],
    ['data:text/plain;charset=utf-8;base64,QQ==', 'data:text/plain;charset=utf-8;base64,QQ=='],
  ])('%s reaches a server that has always taken base64 as that (2356-16)', async (typed, expected) => {
    expect(await legacy.sent('uri', { file: typed })).toEqual({ file: expected });
  });
});

it('a file fills a header of 4 KiB, and not of more', async () => {
  const stateless = RawClient.stateless(legacy.wharf.mcp, '2026-07-28', {});
  const fits = Buffer.alloc(3072, 'z').toString('base64');
  await stateless.call('header', { file: `data:text/plain;base64,${fits}` });
  expect(upstream.with('tools/call').at(-1)?.headers['mcp-param-doc']).toBe(fits);
  const before = calls();
  const { result } = await stateless.call('header', {
    file: `data:text/plain;base64,${Buffer.alloc(3075, 'z').toString('base64')}`,
  });
  expect(result).toMatchObject({
    isError: true,
    content: [{ text: expect.stringMatching(/header.*at most 4 kB; it would have 4\.1 kB/) }],
  });
  expect(calls()).toBe(before);
});

it('where the version has no such headers there is nothing to be too long', async () => {
  const data = Buffer.alloc(3075, 'z').toString('base64');
  expect(await legacy.sent('header', { file: `data:text/plain;base64,${data}` })).toEqual({ file: data });
  expect(upstream.with('tools/call').at(-1)?.headers).not.toHaveProperty('mcp-param-doc');
});

it.each([
  ['a line break', 'SGVsbG8=\n'],
  ['the line break of Windows', 'SGVsbG8=\r\n'],
  ['line breaks around it', '\nSGVsbG8=\n\n'],
])('short base64 is taken with %s, as it comes from a command line', async (_what, file) => {
  expect(await legacy.sent('shouted', { file })).toEqual({ file });
  expect(await legacy.sent('uri', { file })).toEqual({ file: 'data:text/plain;base64,SGVsbG8=' });
});

describe('a handle', () => {
  let uri: string;
  beforeAll(async () => {
    const { result } = await client.call('request_file_upload', { name: 'x.bin' });
    const offer = result?.structuredContent as { file: { uri: string }; page: string } | undefined;
    await fetch(offer?.page ?? '', { method: 'PUT', body: new Uint8Array([0, 1, 2, 253, 254, 255]) });
    uri = offer?.file.uri ?? '';
  });

  it.each<[string, (handle: string) => unknown]>([
    ['as it was given', (handle) => handle],
    ['between blanks', (handle) => ` ${handle}\n`],
    ['in quotes', (handle) => `"${handle}"`],
    ['in backticks', (handle) => `\`${handle}\``],
    ['in angle brackets', (handle) => `<${handle}>`],
    ['as a link in Markdown', (handle) => `[x.bin](${handle})`],
    ['behind its label', (handle) => `Handle: ${handle}`],
    [
      'as the line of a result',
      (handle) => `Handle: ${handle} (pass it to a tool that takes a file; get_file_link renews the link)`,
    ],
    ['without its beginning', (handle) => handle.slice(handle.lastIndexOf('/') + 1)],
    ['in an object', (handle) => ({ uri: handle, name: 'x.bin' })],
    ['in an object that is written as text', (handle) => JSON.stringify({ uri: handle, name: 'x.bin' })],
    ['in capitals, but for its path', (handle) => handle.replace('mcp-file://wharf', 'MCP-FILE://WHARF')],
  ])('10.2: %s', async (_how, spelled) => {
    expect(await legacy.sent('shouted', { file: spelled(uri) })).toEqual({ file: 'AAEC/f7/' });
  });

  it.each<[string, (handle: string) => unknown]>([
    ['in a sentence', (handle) => `Take ${handle}`],
    ['without its beginning, in a sentence', (handle) => `Take ${handle.slice(handle.lastIndexOf('/') + 1)}`],
    ['behind its label, with a query', (handle) => `Handle: ${handle}?x=1`],
    ['with more behind it', (handle) => `${handle}.`],
    ['with a query', (handle) => `${handle}?x=1`],
    ['in text that is no JSON', (handle) => `{"uri":"${handle}"`],
  ])('%s is refused', async (_how, spelled) => {
    const before = calls();
    const { result } = await client.call('shouted', { file: spelled(uri) });
    expect(result?.isError).toBe(true);
    expect(calls()).toBe(before);
  });
});

it.each([
  ['an image', { type: 'image', mimeType: 'image/png', data: 'AAEC/f7/' }, 'AAEC/f7/'],
  ['audio', { type: 'audio', mimeType: 'audio/wav', data: 'AAEC/f7/' }, 'AAEC/f7/'],
  ['a blob', { type: 'resource', resource: { uri: 'x://y', blob: 'AAEC/f7/' } }, 'AAEC/f7/'],
  ['a text', { type: 'resource', resource: { uri: 'x://y', mimeType: 'text/plain', text: 'A' } }, 'QQ=='],
])('%s of a result, too small to have a handle, may be copied whole', async (_what, file, expected) => {
  expect(await legacy.sent('shouted', { file })).toEqual({ file: expected });
});

describe('companions', () => {
  const named = 'data:text/plain;name=%C3%A9.txt;base64,QQ==';

  it('are of the type that the tool declares', async () => {
    expect(await legacy.sent('telling', { file: named })).toEqual({
      file: 'QQ==',
      name: 'é.txt',
      type: 'text/plain',
      size: '1',
    });
  });

  it.each([
    ['none', {}],
    ['a name', { name: 'mine.bin' }],
    ['all', { name: 'mine.bin', type: 'a/b', size: '7' }],
  ])(
    'that the caller gives stay, also in a call of so many values that only its files are read: %s',
    async (_what, own) => {
      const other = Array.from({ length: 1000 }, (_, index) => index);
      const sent = { file: 'QQ==', name: 'é.txt', type: 'text/plain', size: '1', ...own };
      expect(await legacy.sent('telling', { file: named, ...own })).toEqual(sent);
      expect(await heavy.sent('telling', { file: named, ...own, other })).toEqual({ ...sent, other });
    },
  );

  it('may have any name', async () => {
    expect(await legacy.sent('telling', { named })).toEqual({ named: 'QQ==', constructor: 'é.txt' });
  });

  it('are repeated in the headers that the server declares for them, as it MUST refuse what disagrees', async () => {
    const stateless = RawClient.stateless(legacy.wharf.mcp, '2026-07-28', {});
    await stateless.call('telling', { file: named });
    expect(upstream.with('tools/call').at(-1)?.headers).toMatchObject({
      'mcp-param-name': `=?base64?${Buffer.from('é.txt').toString('base64')}?=`,
      'mcp-param-type': 'text/plain',
    });
  });
});

it.each([
  [{ file: '@attach' }, 'file'],
  [{ files: [F4, '@attach'] }, 'files[1]'],
  [{ pages: [{ data: '@attach' }] }, 'pages[0].data'],
])('%j is told how to upload a file (2356-21)', async (args, argument) => {
  const before = calls();
  const { result } = await client.call('telling', args);
  expect(result).toMatchObject({ isError: true, _meta: { 'dev.wharf/uploadRequired': { argument } } });
  expect(calls()).toBe(before);
});

it('a batch with a file that is refused is refused as a whole, each of its requests by its id', async () => {
  const batches = await RawClient.connect(legacy.wharf.mcp, '2025-03-26');
  const before = calls();
  const of = (id: string, file: string) => {
    return { jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'shouted', arguments: { file } } };
  };
  const { text } = await batches.post([of('a', F4), of('b', 'https://example.com/x')]);
  const answers = JSON.parse(text) as { id: string; error: { code: number; message: string } }[];
  expect(answers.map(({ id, error }) => [id, error.code])).toEqual([
    ['a', -32602],
    ['b', -32602],
  ]);
  expect(calls()).toBe(before);
});
