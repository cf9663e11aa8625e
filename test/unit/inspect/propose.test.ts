import { describe, expect, it } from '@jest/globals';
import { adapters } from '../../../adapters/index.js';
import { propose } from '../../../gateway/inspect/propose.js';
import type { Dialect } from '../../../gateway/ports/dialect.js';
import type { JsonObject } from '../../../gateway/ports/json.js';
import { LEGACY_TOOLS } from './legacy-tools.js';

const tool = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
  name: 't',
  inputSchema: { type: 'object', properties },
  ...more,
});
const pathsOf = (written: JsonObject) => propose(written, adapters.dialects).proposals.map(({ file }) => file.path);

describe('the arguments that hold a file', () => {
  it.each(LEGACY_TOOLS.map((legacy) => [legacy.name, legacy] as const))('of %s', (name, legacy) => {
    const inputSchema = { type: 'object', properties: legacy.properties, ...legacy.more };
    const { proposals } = propose({ name, description: legacy.description ?? '', inputSchema }, []);
    expect(proposals.map(({ file, confidence }) => ({ ...file, confidence }))).toEqual(legacy.expected);
    for (const { reasons } of proposals) expect(reasons.join('')).not.toBe('');
  });
});

describe('what a description says', () => {
  it.each([
    ['Base64 encoded PNG', 'base64'],
    ['base64-encoded bytes of the image', 'base64'],
    ['The picture (b64)', 'base64'],
    ['Base64 string, with or without data URI prefix', 'base64'],
    ['Base64; must not include the data: prefix', 'base64'],
    ['Base64 of the picture, no base64 prefix', 'base64'],
    ['A base64 data URI', 'dataUri'],
    ['data:image/png;base64,... string', 'dataUri'],
    ['Must be a data URL', 'dataUri'],
    ['data:image/...', 'dataUri'],
    ['Base64-encoded JSON object', 'base64'],
    ['base64url of it', 'base64url'],
    ['hexadecimal string of it', 'hex'],
  ])('%j is %s', (description, encoding) => {
    const { proposals } = propose(tool({ x: { type: 'string', description } }), []);
    expect(proposals.map(({ file }) => file.encoding)).toEqual([encoding]);
  });

  it.each([
    'Will be base64-encoded by the server',
    'Raw text, not base64',
    'A local path or an https URL (NO data: URIs, NO base64)',
    'SHA-256 as a hex string (hash)',
    'The database to update',
    'Encoded as JSON',
    'JSON array of objects with a name and base64 content',
  ])('%j is not a file', (description) => {
    expect(pathsOf(tool({ x: { type: 'string', description } }))).toEqual([]);
  });
});

it.each([
  ['Adds a note, or an image by its URL (NO data: URIs, NO base64).', []],
  ['Adds a note. Content is base64.', ['content']],
])('what a tool says in %j', (description, paths) => {
  expect(pathsOf(tool({ content: { type: 'string' } }, { description }))).toEqual(paths);
});

it('names that a path cannot hold are told apart', () => {
  const base64 = { type: 'string', description: 'base64' };
  const { proposals } = propose(
    tool({ 'a.b': base64, 'c[]': base64, d: base64, e: { type: 'array', items: base64 } }),
    [],
  );
  expect(proposals.map(({ file, isAmbiguous }) => [file.path, isAmbiguous])).toEqual([
    ['a.b', true],
    ['c[]', true],
    ['d', false],
    ['e[]', false],
  ]);
});

describe('what a server declares itself', () => {
  it.each([
    ['x-mcp-file', tool({ image_base64: { type: 'string', format: 'uri', 'x-mcp-file': {} } })],
    ['mcpFile', tool({ image_base64: { type: 'string', format: 'uri', mcpFile: {} } })],
    ['inputFiles', tool({ image_base64: { type: 'string' } }, { inputFiles: { image_base64: {} } })],
    [
      'openai/fileParams',
      tool(
        { image_base64: { type: 'object', properties: { base64: { type: 'string' } } } },
        { _meta: { 'openai/fileParams': ['image_base64'] } },
      ),
    ],
  ])('by %s needs no config', (by, written) => {
    const known = { proposals: [], declared: [{ path: 'image_base64', by }] };
    expect(propose(written, adapters.dialects)).toMatchObject(known);
  });

  it('by whatever a dialect reads needs none either', () => {
    const slot = { path: ['pages', '[]', 'data'], declaredBy: 'some-dialect', companions: {}, deliveries: [] };
    const dialect = { slotsOf: () => [slot] } as unknown as Dialect;
    const data = { type: 'string', contentEncoding: 'base64' };
    const written = tool({ pages: { type: 'array', items: { type: 'object', properties: { data } } }, other: data });
    const { proposals, declared } = propose(written, [dialect]);
    expect(declared).toEqual([{ path: 'pages[].data', by: 'some-dialect' }]);
    expect(proposals.map(({ file }) => file.path)).toEqual(['other']);
  });
});

describe('a union', () => {
  it('of unions is looked through', () => {
    const image = { anyOf: [{ type: 'string', format: 'byte' }, { type: 'integer' }] };
    const written = {
      type: 'object',
      properties: { a: { anyOf: [{ $ref: '#/$defs/Image' }, { type: 'null' }] } },
      $defs: { Image: image },
    };
    expect(pathsOf({ name: 't', inputSchema: written })).toEqual(['a']);
  });

  it('may be spelled by types', () => {
    expect(pathsOf(tool({ a: { type: ['string', 'null'], format: 'byte' } }))).toEqual(['a']);
  });
});

describe('a hostile schema', () => {
  it.each<[string, JsonObject]>([
    ['refers to itself', { $ref: '#/properties/a' }],
    ['refers elsewhere', { $ref: 'http://127.0.0.1:1/x' }],
    ['refers to a prototype', { $ref: '#/constructor/prototype' }],
    ['is no schema', { type: 7, properties: 'x', anyOf: [1, null, 'x'] } as unknown as JsonObject],
    ['names a prototype', JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"}}}') as JsonObject],
  ])('%s', (_name, a) => {
    expect(pathsOf(tool({ a, b: { type: 'string', format: 'byte' } }))).toEqual(['b']);
  });

  it('contains itself', () => {
    const node = {
      type: 'object',
      properties: { data: { type: 'string', format: 'byte' }, next: { $ref: '#/$defs/Node' }, x: { type: 'boolean' } },
    };
    const written: JsonObject = {
      name: 't',
      inputSchema: { type: 'object', properties: { first: { $ref: '#/$defs/Node' } }, $defs: { Node: node } },
    };
    expect(pathsOf(written)).toEqual(expect.arrayContaining(['first.data', 'first.next.data']));
  });

  it('has more properties than are read', () => {
    const many = Object.fromEntries(Array.from({ length: 100_000 }, (_, n) => [`base64_${n}`, { type: 'string' }]));
    expect(pathsOf(tool(many)).length).toBeLessThan(1000);
  });

  it('branches without end', () => {
    const any = Array.from({ length: 8 }, () => ({ $ref: '#/$defs/Any' }));
    const node = { type: 'object', properties: { a: { $ref: '#/$defs/Any' }, b: { $ref: '#/$defs/Any' } } };
    const inputSchema = {
      type: 'object',
      properties: { first: { $ref: '#/$defs/Any' } },
      $defs: { Any: { anyOf: [node, ...any] } },
    };
    expect(() => propose({ name: 't', inputSchema }, [])).not.toThrow();
  });

  it('has a description that would be slow to search', () => {
    const description = `base64 ${'data '.repeat(200_000)}`;
    expect(() => propose(tool({ x: { type: 'string', description } }), [])).not.toThrow();
  });
});

describe('arguments beside one that is a file', () => {
  it('are not ways to fill it because its description names them', () => {
    const { proposals } = propose(
      tool({
        localPath: {
          type: 'string',
          description: 'Absolute path of the file. Provide either localPath or contentBase64.',
        },
        contentBase64: { type: 'string', description: 'Base64-encoded content. Alternative to localPath.' },
        content: { type: 'string', description: 'Raw CSV text. Use one of localPath and contentBase64 instead.' },
      }),
      [],
    );
    expect(proposals.map(({ file, otherWays }) => ({ path: file.path, otherWays }))).toEqual([
      { path: 'localPath', otherWays: expect.any(String) },
      { path: 'contentBase64', otherWays: undefined },
    ]);
  });

  it('say that it takes text too, where one chooses between base64 and text', () => {
    const content = { type: 'string', description: "Content. Base64-encoded when encoding is 'base64'." };
    const ways = (more: JsonObject) => propose(tool({ content, ...more }), []).proposals[0]?.otherWays;
    expect(ways({ encoding: { enum: ['text', 'base64'] } })).toBe('"encoding" beside it says whether it is base64');
    expect(ways({ encoding: { enum: ['base64'] } })).toBeUndefined();
    expect(ways({ output_format: { enum: ['text', 'base64'] } })).toBeUndefined();
  });

  it.each([
    ['The diagram: raw XML string, or base64-encoded PNG', 'its description says "raw XML string, or base64"'],
    ['Plain text or base64', 'its description says "Plain text or base64"'],
    ['Base64 or UTF-8 text', 'its description says "Base64 or UTF-8"'],
    ['Content, base64-encoded if binary', 'its description says "base64-encoded if binary"'],
    ['PNG, SVG or JPEG in base64', undefined],
    ['Base64 of a text or HTML file', undefined],
  ])('say so too where the description is %j', (description, otherWays) => {
    expect(propose(tool({ data: { type: 'string', description } }), []).proposals[0]?.otherWays).toBe(otherWays);
  });

  it('get its name and its type although it may be given by a path instead', () => {
    const properties = {
      filename: { type: 'string' },
      filePath: { type: 'string', description: 'Local file path to attach' },
      url: { type: 'string', description: 'URL where the file is' },
      content: { type: 'string', description: 'Base64-encoded content' },
      contentType: { type: 'string' },
    };
    const { proposals } = propose(tool({ attachments: { type: 'array', items: { type: 'object', properties } } }), []);
    expect(proposals.map(({ file }) => file)).toContainEqual({
      path: 'attachments[].content',
      encoding: 'base64',
      name: 'filename',
      mimeType: 'contentType',
    });
  });
});

it.each([
  ['filePath', 'The absolute path, or one relative to the working directory, to save the screenshot to', []],
  ['filePath', 'The file, relative to the current working directory', ['filePath']],
  ['pdf', 'Path to the PDF file, relative to the working directory', ['pdf']],
  ['componentKey', 'The component key (40-char hex string)', []],
])('what %s with the description %j is', (name, description, paths) => {
  expect(pathsOf(tool({ [name]: { type: 'string', description } }))).toEqual(paths);
});

it('nothing is proposed for a tool that only the view of an app calls', () => {
  const properties = { data: { type: 'string', description: 'Base64-encoded bytes' } };
  expect(pathsOf(tool(properties, { _meta: { ui: { visibility: ['app'] } } }))).toEqual([]);
  expect(pathsOf(tool(properties, { _meta: { ui: { visibility: ['model', 'app'] } } }))).toEqual(['data']);
});

it.each([
  [
    ['image/png', 'image/jpeg'],
    ['image/png', 'image/jpeg'],
  ],
  [['image/png', 'auto'], undefined],
])('a tool takes what the argument for the type lists, where all of %j are types', (types, accept) => {
  const written = tool({ image_base64: { type: 'string' }, mime_type: { type: 'string', enum: types } });
  expect(propose(written, []).proposals.map(({ file }) => file.accept)).toEqual([accept]);
});
