import { describe, expect, it } from '@jest/globals';
import { create as sep2631 } from '../../../adapters/dialects/sep-2631/index.js';
import { patchValue } from '../../../gateway/json/patch.js';
import { DEFAULT_LIMITS } from '../../../gateway/policy/limits.js';
import type { JsonObject } from '../../../gateway/ports/dialect.js';
import { readerOf } from '../../../gateway/relay/tools/reader.js';
import { show } from '../../../gateway/relay/tools/show.js';
import { UnknownMethods } from '../../../gateway/relay/upstream/unknown-methods.js';
import { readTool } from '../../../gateway/tools/tool.js';

const DIALECTS = [sep2631()];
const MOST = 50 * 1024 * 1024;
const TOOL: JsonObject = {
  name: 't',
  inputSchema: {
    type: 'object',
    properties: {
      file: { type: 'string', format: 'uri', 'x-mcp-file': { maxSize: MOST, transferModes: ['inline', 'upload'] } },
    },
  },
};

/** The largest file that a client reads in the tool's schema. */
function largest(files: JsonObject): unknown {
  const unknownMethods = new UnknownMethods();
  const view = { server: 's', limits: DEFAULT_LIMITS, accepts: 2 * MOST, dialects: DIALECTS, uploadTool: undefined };
  const client = { protocolVersion: '2025-11-25', capabilities: { files } };
  const patches = show(readTool(TOOL, { settings: {}, dialects: DIALECTS }), readerOf(client, DIALECTS), {
    ...view,
    unknownMethods,
  });
  const { inputSchema } = patchValue(TOOL, patches) as {
    inputSchema: { properties: { file: { 'x-mcp-file': JsonObject } } };
  };
  return inputSchema.properties.file['x-mcp-file'].maxSize;
}

describe('SEP-2631: the size that a file may have', () => {
  it.each<JsonObject>([
    { upload: true },
    { upload: true, transports: ['https'] },
    { upload: true, transports: ['quic', 'https'] },
    { upload: true, transports: 'https' },
  ])('is that of an upload for a client with %j (2631-24)', (files) => {
    expect(largest(files)).toBe(MOST);
  });

  it.each<JsonObject>([{ upload: true, transports: ['quic'] }, { upload: true, transports: [] }, { download: true }])(
    'is that of a file inside the call for one with %j, which can upload nothing here (2631-08)',
    (files) => {
      expect(largest(files)).toBe(DEFAULT_LIMITS.inlineArgument);
    },
  );
});

describe('SEP-2631: which arguments are files', () => {
  const keyword = { 'x-mcp-file': { transferModes: ['inline', 'upload'] } };
  const uri = { type: 'string', format: 'uri' };
  const slots = (file: JsonObject) => {
    const inputSchema = { type: 'object', properties: { file }, $defs: { uri, object: { type: 'object' } } };
    return sep2631().slotsOf?.({ name: 't', inputSchema }) ?? [];
  };

  it.each<[string, JsonObject, string]>([
    ['a URI string', { ...uri, ...keyword }, 'file'],
    ['a string without format', { type: 'string', ...keyword }, 'file'],
    ['a reference to one', { $ref: '#/$defs/uri', ...keyword }, 'file'],
    ['one that may be null', { anyOf: [uri, { type: 'null' }], ...keyword }, 'file'],
    ['the items of a list', { type: 'array', items: { ...uri, ...keyword } }, 'file.[]'],
    ['a list of them', { type: 'array', items: uri, ...keyword }, 'file.[]'],
    ['a list that may be null', { anyOf: [{ type: 'array', items: uri }, { type: 'null' }], ...keyword }, 'file.[]'],
  ])('the keyword on %s declares one (2631-22)', (_what, file, path) => {
    expect(slots(file).map((slot) => slot.path.join('.'))).toEqual([path]);
  });

  it.each<[string, JsonObject]>([
    ['an object', { type: 'object', ...keyword }],
    ['a number', { type: 'number', ...keyword }],
    ['what is true, false or null', { type: ['boolean', 'null'], ...keyword }],
    ['a list of objects', { type: 'array', items: { type: 'object' }, ...keyword }],
    ['the items of one', { type: 'array', items: { type: 'object', ...keyword } }],
    ['a reference to an object', { $ref: '#/$defs/object', ...keyword }],
  ])('on %s it declares none: the server takes no URI there (2631-22, 2356-09)', (_what, file) => {
    expect(slots(file)).toEqual([]);
  });

  it('and below such an object it declares what it is on (2631-22)', () => {
    const file = { type: 'object', properties: { scan: { ...uri, ...keyword } }, ...keyword };
    expect(slots(file).map((slot) => slot.path.join('.'))).toEqual(['file.scan']);
  });
});
