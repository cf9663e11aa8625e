import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RawClient } from '../../helpers/raw-client.js';
import { F1, F2, inTurn, type Json, type Lab, lab, type Row, refuses, sends } from './recording-lab.js';
import { dataUri, declared, EARLY, shownTool, tool } from './sep-2356-lab.js';

const B64 = (bytes: Buffer) => bytes.toString('base64');
const IMAGE = dataUri('image/png', F2);
const NAMED = dataUri('image/png', F2, 'a.png');
const TEXT = dataUri('text/plain', F1);
const STRINGS = { type: 'array', items: { type: 'string' } };

const TOOLS = [
  tool('legacy', { images: STRINGS, names: STRINGS }),
  tool('couple', { images: { ...STRINGS, minItems: 2, 'x-mcp-file': {} } }),
  tool('five', { images: { ...STRINGS, maxItems: 5, 'x-mcp-file': { maxSize: 12 } } }),
  tool('called', {
    files: { type: 'array', items: { type: 'string' }, mcpFile: { filenameProperty: 'names' } },
    names: STRINGS,
  }),
  tool(
    'sidecar',
    { files: { type: 'array', items: { type: 'string', format: 'uri' } } },
    { inputFiles: { files: {} } },
  ),
  tool('nested', {
    doc: { type: 'object', properties: { payload: { type: 'object', properties: { data: { type: 'string' } } } } },
  }),
  tool('union', { file: { anyOf: [{ type: 'null' }, { type: 'string' }], 'x-mcp-file': { accept: ['image/png'] } } }),
  tool('pages', {
    pages: { type: 'array', items: { type: 'object', properties: { data: declared(), page: { type: 'number' } } } },
  }),
  tool('object', { image: { type: 'object', properties: { data: { type: 'string' } }, required: ['data'] } }),
  {
    name: 'shared',
    inputSchema: {
      type: 'object',
      properties: { a: { $ref: '#/$defs/file' }, b: { $ref: '#/$defs/file' }, c: { $ref: '#/$defs/text' } },
      $defs: { file: declared({ accept: ['image/png'] }), text: { type: 'string' } },
    },
  },
];
const NAMES = TOOLS.map(({ name }) => String(name));

describe('SEP-2356: file arguments of every shape', () => {
  let shapes: Lab;

  beforeAll(async () => {
    const object = {
      encoding: 'object',
      template: { data: '$base64', mimeType: '$mime', name: '$name', size: '$size' },
    };
    shapes = await lab(TOOLS, {
      server: {
        tools: {
          legacy: { files: { 'images[]': { encoding: 'base64', name: 'names[]' } } },
          nested: { files: { 'doc.payload.data': { encoding: 'base64', accept: ['image/png'] } } },
          object: { files: { image: object } },
        },
      },
    });
    await shapes.client.request('tools/list');
  });

  afterAll(() => shapes.stop());

  const properties = async (name: string, client = shapes.client): Promise<Record<string, Json>> =>
    (await shownTool(client, NAMES.indexOf(name))).inputSchema.properties;

  it('an array of files says on its items what they are, and how many it takes (2356o-20)', async () => {
    const { images } = await properties('legacy');
    expect(images).toMatchObject({ maxItems: 10, items: { type: 'string', format: 'uri', 'x-mcp-file': {} } });
    expect((await properties('five')).images).toMatchObject({ maxItems: 5 });
  });

  it('files of all kinds may be mixed; they arrive in order, with their names (2356o-20)', async () => {
    const images = [NAMED, B64(F1), dataUri('text/plain', F1, 'b.txt')];
    const sent = await shapes.sent('legacy', { images: [images[0], images[2]] });
    expect(sent).toEqual({ images: [B64(F2), B64(F1)], names: ['a.png', 'b.txt'] });
    expect((await shapes.sent('legacy', { images })).images).toEqual([B64(F2), B64(F1), B64(F1)]);
  });

  it('more files than the limit are refused, and the text says which (2356o-20)', async () => {
    const images = Array.from({ length: 11 }, () => IMAGE);
    expect(await shapes.refused('legacy', { images })).toMatchObject({ reason: 'tooManyFiles', argument: 'images' });
    const { result } = await shapes.client.call('legacy', { images });
    expect(result?.content?.[0]?.text).toBe("Argument 'images' has 11 files; it takes at most 10.");
    expect((await shapes.sent('legacy', { images: images.slice(1) })).images).toHaveLength(10);
  });

  it.each<Row>([
    [
      "the tool's own maxItems counts (2356o-06)",
      refuses('five', { images: Array(6).fill(TEXT) }, expect.objectContaining({ reason: 'tooManyFiles' })),
      sends('five', { images: Array(5).fill(TEXT) }),
    ],
    [
      'and so does its minItems (2356o-06)',
      refuses('couple', { images: [TEXT] }, { reason: 'tooFewFiles', argument: 'images' }),
      refuses('couple', { images: TEXT }, { reason: 'tooFewFiles', argument: 'images' }),
      sends('couple', { images: [TEXT, TEXT] }),
    ],
    [
      'maxSize is that of each file (2356o-05)',
      sends('five', { images: [TEXT, TEXT] }),
      refuses(
        'five',
        { images: [TEXT, dataUri('text/plain', Buffer.concat([F1, F1]))] },
        { reason: 'maxSizeExceeded', argument: 'images[1]', maxSize: 12, actualSize: 24 },
      ),
    ],
    [
      'one bad file costs the whole call, and is named by its index (2356o-20)',
      refuses(
        'legacy',
        { images: [IMAGE, 'data:image/png;base64,%%%'] },
        expect.objectContaining({ argument: 'images[1]', reason: 'malformedUri' }),
      ),
    ],
    [
      'a single file for a list becomes a list of one (2356o-20)',
      sends('legacy', { images: NAMED }, { images: [B64(F2)], names: ['a.png'] }),
    ],
    [
      'a list of files has a list of names (2356o-19)',
      sends(
        'called',
        { files: [NAMED, dataUri('text/plain', F1, 'b.txt')] },
        { files: [IMAGE, TEXT], names: ['a.png', 'b.txt'] },
      ),
    ],
  ])('%s', (_sentence, ...calls) => inTurn(calls, shapes));

  it('an early list of files is shown and filled as one (2356o-03)', async () => {
    const early = await RawClient.connect(shapes.wharf.mcp, '2025-06-18', { capabilities: EARLY });
    const shown = await shownTool(early, NAMES.indexOf('sidecar'));
    expect(Object.keys(shown.inputFiles ?? {})).toEqual(['files']);
    const files = [NAMED];
    expect(await shapes.sent('sidecar', { files })).toEqual({ files });
  });

  it('a nested property has the keyword itself (2356-03)', async () => {
    const { doc } = await properties('nested');
    expect(doc).toMatchObject({
      properties: {
        payload: { properties: { data: { type: 'string', format: 'uri', 'x-mcp-file': { accept: ['image/png'] } } } },
      },
    });
    const sent = await shapes.sent('nested', { doc: { payload: { data: IMAGE }, x: 1 } });
    expect(sent).toEqual({ doc: { payload: { data: B64(F2) }, x: 1 } });
  });

  it('in a union the string has it, not the union (2356-03)', async () => {
    const { file } = await properties('union');
    expect(file).not.toHaveProperty('x-mcp-file');
    const string = { type: 'string', format: 'uri', 'x-mcp-file': { accept: ['image/png'] } };
    expect(file).toMatchObject({ anyOf: [{ type: 'null' }, string] });
    expect(await shapes.sent('union', { file: null })).toEqual({ file: null });
    expect(await shapes.sent('union', { file: IMAGE })).toEqual({ file: IMAGE });
  });

  it('so do the members of objects in a list (2356-03)', async () => {
    const rest = [{ page: 2 }, { data: TEXT }];
    expect(await shapes.sent('pages', { pages: [{ data: NAMED, page: 1 }, ...rest] })).toEqual({
      pages: [{ data: IMAGE, page: 1 }, ...rest],
    });
  });

  it('an object is one URI for clients, and an object for the server (2356-03)', async () => {
    const { image } = await properties('object');
    expect(image).toMatchObject({ type: 'string', format: 'uri', 'x-mcp-file': {} });
    expect(image).not.toHaveProperty('properties');
    expect(await shapes.sent('object', { image: NAMED })).toEqual({
      image: { data: B64(F2), mimeType: 'image/png', name: 'a.png', size: F2.length },
    });
  });

  it('what is shared by reference is copied (2356-03)', async () => {
    const { inputSchema } = await shownTool(shapes.client, NAMES.indexOf('shared'));
    for (const key of ['a', 'b']) {
      expect(inputSchema.properties[key]).toMatchObject({ type: 'string', format: 'uri' });
      expect(inputSchema.properties[key]).not.toHaveProperty('$ref');
    }
    expect(inputSchema.properties.c).toEqual({ $ref: '#/$defs/text' });
    expect(await shapes.sent('shared', { a: dataUri('image/png', F2, 'n'), c: 'text' })).toEqual({
      a: IMAGE,
      c: 'text',
    });
  });
});
