import { describe, expect, it } from '@jest/globals';
import { create as mcpInline } from '../../../adapters/dialects/mcp-inline/index.js';
import { create as sep2356 } from '../../../adapters/dialects/sep-2356/index.js';
import { patchValue } from '../../../gateway/json/patch.js';
import { DEFAULT_LIMITS } from '../../../gateway/policy/limits.js';
import type { JsonObject } from '../../../gateway/ports/dialect.js';
import { readerOf } from '../../../gateway/relay/tools/reader.js';
import { show } from '../../../gateway/relay/tools/show.js';
import { UnknownMethods } from '../../../gateway/relay/upstream/unknown-methods.js';
import { readTool } from '../../../gateway/tools/tool.js';

const DIALECTS = [sep2356(), mcpInline()];
const MIB = 1024 * 1024;

function tool(properties: JsonObject, more: JsonObject = {}): JsonObject {
  return { name: 't', inputSchema: { type: 'object', properties, ...more } };
}

function slots(file: JsonObject, more: JsonObject = {}) {
  return sep2356().slotsOf?.(tool({ file, ...more })) ?? [];
}

/** The tool as clients see it, from a server that takes long messages. */
function shown(of: JsonObject, capabilities: JsonObject = {}): JsonObject {
  const unknownMethods = new UnknownMethods();
  const view = { server: 's', limits: DEFAULT_LIMITS, accepts: 100 * MIB, dialects: DIALECTS, uploadTool: undefined };
  const deps = { ...view, unknownMethods };
  const client = { protocolVersion: '2025-11-25', capabilities };
  return patchValue(of, show(readTool(of, { settings: {}, dialects: DIALECTS }), readerOf(client, DIALECTS), deps));
}

function shownFile(file: JsonObject, more: JsonObject = {}): JsonObject {
  const { inputSchema } = shown(tool({ file }, more)) as { inputSchema: { properties: { file: JsonObject } } };
  return inputSchema.properties.file;
}

describe('SEP-2356: which arguments are files', () => {
  it.each<[string, JsonObject, string | undefined]>([
    ['a string with the keyword', { type: 'string', format: 'uri', 'x-mcp-file': {} }, 'file'],
    ['a string without format', { type: 'string', 'x-mcp-file': {} }, 'file'],
    ['the older keyword', { type: 'string', mcpFile: {} }, 'file'],
    ['a list, by its items', { type: 'array', items: { type: 'string', 'x-mcp-file': {} } }, 'file.[]'],
    ['a list, by itself', { type: 'array', items: { type: 'string' }, 'x-mcp-file': {} }, 'file.[]'],
    ['a nullable string', { type: ['string', 'null'], 'x-mcp-file': {} }, 'file'],
    ['a union that has it', { anyOf: [{ type: 'string' }, { type: 'null' }], 'x-mcp-file': {} }, 'file'],
    ['a branch that has it', { oneOf: [{ type: 'null' }, { type: 'string', 'x-mcp-file': {} }] }, 'file'],
    ['a format without a type', { format: 'uri', 'x-mcp-file': {} }, 'file'],
    ['a number', { type: 'number', 'x-mcp-file': {} }, undefined],
    ['an object', { type: 'object', 'x-mcp-file': {} }, undefined],
    ['a list of lists', { type: 'array', items: { type: 'array', items: {} }, 'x-mcp-file': {} }, undefined],
    ['nothing at all', { 'x-mcp-file': {} }, undefined],
    ['a keyword that is a word', { type: 'string', 'x-mcp-file': 'yes' }, undefined],
    ['a keyword that is null', { type: 'string', 'x-mcp-file': null }, undefined],
    ['accept as a word', { type: 'string', 'x-mcp-file': { accept: 'image/png' } }, undefined],
    ['an empty entry', { type: 'string', 'x-mcp-file': { accept: [''] } }, undefined],
    ['a negative size', { type: 'string', 'x-mcp-file': { maxSize: -1 } }, undefined],
    ['half a byte', { type: 'string', 'x-mcp-file': { maxSize: 0.5 } }, undefined],
    ['an infinite size', { type: 'string', 'x-mcp-file': { maxSize: Number.POSITIVE_INFINITY } }, undefined],
    ['uploads only', { type: 'string', 'x-mcp-file': { transferModes: ['upload'] } }, undefined],
  ])('%s (2356-04)', (_what, file, path) => {
    expect(slots(file).map((slot) => slot.path.join('.'))).toEqual(path === undefined ? [] : [path]);
  });

  it('an empty accept says nothing (2356-04)', () => {
    expect(slots({ type: 'string', 'x-mcp-file': { accept: [] } })[0]).not.toHaveProperty('accept');
  });

  it.each<[string, JsonObject, string | undefined]>([
    ['a string', { type: 'string' }, 'name'],
    ['a list of strings', { type: 'array', items: { type: 'string' } }, 'name[]'],
    ['a number', { type: 'number' }, undefined],
  ])('filenameProperty names %s (2356o-19)', (_what, name, companion) => {
    const [slot] = slots({ type: 'string', mcpFile: { filenameProperty: 'name' } }, { name });
    expect(slot?.companions).toEqual(companion === undefined ? {} : { name: companion });
  });

  it('filenameProperty that names no sibling, or itself, counts for nothing (2356o-19)', () => {
    for (const name of ['ghost', 'file', 'constructor', '__proto__']) {
      const [slot] = slots({ type: 'string', mcpFile: { filenameProperty: name } });
      expect(slot?.companions).toEqual({});
    }
  });

  it.each<[string, JsonObject]>([
    ['an argument that is not there', { ghost: {} }],
    ['one of another shape', { count: {} }],
    ["SEP-2631's, by its size", { file: { maxFileSize: 1 } }],
    ["SEP-2631's, by its purpose", { file: { purpose: 'x' } }],
    ['what is no object', { file: true }],
    ['a malformed one', { file: { maxSize: 'x' } }],
  ])('inputFiles with %s is ignored (2356o-04)', (_what, inputFiles) => {
    const declared = { ...tool({ file: { type: 'string' }, count: { type: 'number' } }), inputFiles };
    expect(sep2356().slotsOf?.(declared)).toEqual([]);
  });

  it('names like those of JavaScript itself are names (2356o-04)', () => {
    const inputFiles = JSON.parse('{"__proto__": {}, "constructor": {}, "toString": {}}') as JsonObject;
    expect(sep2356().slotsOf?.({ ...tool({ file: { type: 'string' } }), inputFiles })).toEqual([]);
  });

  it('a schema whose references multiply is given up, by every dialect', () => {
    const branches = Array.from({ length: 10 }, () => ({ $ref: '#/$defs/union' }));
    const hostile = tool({ file: { $ref: '#/$defs/union' } }, { $defs: { union: { anyOf: branches } } });
    for (const dialect of DIALECTS) expect(dialect.slotsOf?.(hostile)).toEqual([]);
    const keyword = tool(
      { file: { $ref: '#/$defs/union', 'x-mcp-file': {} } },
      { $defs: { union: { anyOf: branches } } },
    );
    expect(sep2356().slotsOf?.(keyword)).toEqual([]);
    const marked = Array.from({ length: 10 }, () => ({ $ref: '#/$defs/union', 'x-mcp-file': {} }));
    const both = tool({ file: { anyOf: marked } }, { $defs: { union: { anyOf: marked } } });
    expect(sep2356().slotsOf?.(both)).toEqual([]);
  });
});

describe('SEP-2356: what is shown of them', () => {
  it('the inline limit is published where the server would take more (2356-08)', () => {
    const file = shownFile({ type: 'string', format: 'uri', 'x-mcp-file': {} });
    expect(file['x-mcp-file']).toEqual({ maxSize: DEFAULT_LIMITS.inlineArgument });
    const large = shownFile({ type: 'string', format: 'uri', 'x-mcp-file': { maxSize: 50 * MIB } });
    expect(large['x-mcp-file']).toEqual({ maxSize: DEFAULT_LIMITS.inlineArgument });
  });

  it('only what the grammar has is shown (2356-05)', () => {
    const accept = ['image/png', 'png', '*/png', 'text/plain; charset=utf-8', '.pdf'];
    const file = shownFile({ type: 'string', 'x-mcp-file': { accept } });
    expect(file['x-mcp-file']).toMatchObject({ accept: ['image/png', 'text/plain', '.pdf'] });
    const any = shownFile({ type: 'string', 'x-mcp-file': { accept: ['image/png', '*/*'] } });
    expect(any['x-mcp-file']).not.toHaveProperty('accept');
  });

  it('modes are those that work without another dialect (2356-04)', () => {
    const both = shownFile({ type: 'string', 'x-mcp-file': { transferModes: ['inline', 'upload'] } });
    expect(both['x-mcp-file']).toMatchObject({ transferModes: ['inline'] });
    const upload = { type: 'string', 'x-mcp-file': { transferModes: ['upload'] } };
    expect(shownFile(upload)).toEqual(upload);
  });

  it('every malformed keyword goes, wherever it stands (2356-10)', () => {
    const bad = { type: 'string', 'x-mcp-file': 1 };
    const of = tool(
      { a: bad, b: { type: 'array', items: bad }, c: { anyOf: [bad, { type: 'null' }] }, mcpFile: { type: 'string' } },
      { $defs: { d: { type: 'string', mcpFile: [] } } },
    );
    const view = JSON.stringify(shown(of));
    expect(view).not.toContain('x-mcp-file');
    expect(view.match(/mcpFile/g)).toHaveLength(1);
  });

  it('a nullable string that is required may still be null (2356-03)', () => {
    const nullable = { type: ['string', 'null'], 'x-mcp-file': {} };
    expect(shownFile(nullable).type).toBe('string');
    expect(shownFile(nullable, { required: ['file'] }).type).toEqual(['string', 'null']);
  });

  it('properties may be called like keywords (2356-03)', () => {
    const properties: JsonObject = {
      items: { type: 'array', items: { type: 'string', 'x-mcp-file': {} } },
      properties: { type: 'object', properties: { anyOf: { type: 'string', 'x-mcp-file': {} } } },
    };
    const { inputSchema } = shown(tool(properties)) as { inputSchema: { properties: Record<string, JsonObject> } };
    expect(inputSchema.properties.items).toMatchObject({ type: 'array', maxItems: 10, items: { format: 'uri' } });
    expect(inputSchema.properties.items).not.toHaveProperty('format');
    expect(inputSchema.properties.properties).toMatchObject({ properties: { anyOf: { format: 'uri' } } });
  });

  it("SEP-2631's entries of inputFiles are not ours to take away (2356o-01)", () => {
    const inputFiles = { file: {}, other: { maxFileSize: 5 }, third: {} };
    const of = {
      ...tool({ file: { type: 'string' }, other: { type: 'object' }, third: { type: 'object' } }),
      inputFiles,
    };
    expect(shown(of).inputFiles).toEqual({ other: { maxFileSize: 5 }, third: {} });
  });

  it('what is not a plain string is not in inputFiles (2356o-03)', () => {
    const of = tool(
      {
        plain: { type: 'string', 'x-mcp-file': {} },
        union: { anyOf: [{ type: 'string', 'x-mcp-file': {} }, { type: 'null' }] },
        nested: { type: 'object', properties: { file: { type: 'string', 'x-mcp-file': {} } } },
        nullable: { type: ['string', 'null'], 'x-mcp-file': {} },
      },
      { required: ['nullable'] },
    );
    expect(Object.keys(shown(of, { fileInputs: {} }).inputFiles ?? {})).toEqual(['plain']);
  });

  it('of a tool with thousands of file arguments a hundred are', () => {
    const many = Array.from({ length: 3000 }, (_, index) => [`p${index}`, { type: 'string', 'x-mcp-file': {} }]);
    const of = tool(Object.fromEntries(many) as JsonObject);
    const { inputSchema } = shown(of) as { inputSchema: { properties: Record<string, JsonObject> } };
    expect(Object.values(inputSchema.properties).filter(({ format }) => format === 'uri')).toHaveLength(100);
  });

  it('a tool without files keeps every byte', () => {
    const of = tool({ a: { type: 'string', description: 'x' }, b: { anyOf: [{ type: 'string' }, { type: 'null' }] } });
    expect(shown(of)).toEqual(of);
  });
});

describe("SEP-2356: the early revisions' errors", () => {
  const early = { protocolVersion: '2025-06-18', capabilities: { fileInputs: {} } };

  it.each([
    ['maxSizeExceeded', 'file_too_large'],
    ['mimeTypeNotAccepted', 'file_type_rejected'],
    ['malformedUri', 'file_uri_malformed'],
    ['schemeNotAllowed', 'file_scheme_unsupported'],
    ['unreachable', 'file_unreachable'],
  ] as const)('%s is %s, there and back (2356o-14)', (reason, name) => {
    const { refuse, readRefusal } = sep2356();
    const error = refuse?.({ reason, argument: 'a', text: 'T' }, early);
    expect(error).toEqual({ code: -32602, message: 'T', data: { reason: name, argument: 'a' } });
    expect(readRefusal?.({ error: error as unknown as JsonObject })).toMatchObject({ reason, argument: 'a' });
  });

  it('only clients that declared the capability, or are said to have it, get them (2356o-13)', () => {
    const { refuse } = sep2356();
    const refusal = { reason: 'maxSizeExceeded', argument: 'a', text: 'T' } as const;
    const plain = { protocolVersion: '2025-06-18', capabilities: {} };
    expect(refuse?.(refusal, plain)).toBeUndefined();
    expect(refuse?.(refusal, { ...plain, dialects: ['sep-2356'] })).toBeDefined();
    expect(refuse?.({ ...refusal, reason: 'fileExpired' }, early)).toBeUndefined();
  });
});
