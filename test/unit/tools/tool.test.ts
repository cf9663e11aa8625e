import { describe, expect, it } from '@jest/globals';
import { adapters } from '../../../adapters/index.js';
import { readerOf } from '../../../gateway/relay/tools/reader.js';
import { readTool } from '../../../gateway/tools/tool.js';

const { dialects } = adapters;
const BASE64 = { type: 'string', contentEncoding: 'base64' };

const TOOL = {
  name: 'take',
  inputSchema: {
    type: 'object',
    required: ['doc'],
    properties: {
      doc: { type: 'object', required: ['data'], properties: { data: BASE64, data_name: { type: 'string' } } },
      pages: { type: 'array', minItems: 1, maxItems: 3, items: BASE64 },
      region: { type: 'string', 'x-mcp-header': 'Region' },
    },
  },
};

describe('a tool', () => {
  const { name, facts } = readTool(TOOL, { settings: {}, dialects });
  const [data, pages] = facts.slots;

  it('is read once, with all that its schema says of its files', () => {
    expect([name, facts.slots.length]).toEqual(['take', 2]);
    expect(data).toMatchObject({ path: ['doc', 'data'], lifted: 'doc_data', companions: { name: 'data_name' } });
    expect([data?.required, [...(data?.types ?? [])]]).toEqual([{ always: true, takesNull: false }, ['string']]);
    expect(pages).toMatchObject({ path: ['pages', '[]'], minItems: 1, maxItems: 3 });
    expect([pages?.required, pages?.lifted]).toEqual([undefined, undefined]);
    expect(facts.paramHeaders).toEqual([{ header: 'mcp-param-region', path: ['region'] }]);
  });

  it('gives a nested file no other name that would be longer than any host takes', () => {
    const tool = (length: number) => ({
      inputSchema: {
        type: 'object',
        properties: { ['d'.repeat(length)]: { type: 'object', properties: { e: BASE64 } } },
      },
    });
    const [longest, longer] = [1022, 1023].map(
      (length) => readTool(tool(length), { settings: {}, dialects }).facts.slots,
    );
    expect(longest?.map(({ lifted }) => lifted)).toEqual([`${'d'.repeat(1022)}_e`]);
    expect(longer).toMatchObject([{ path: ['d'.repeat(1023), 'e'] }]);
    expect(longer?.[0]).not.toHaveProperty('lifted');
  });

  it('that the operator configures has those arguments first', () => {
    const files = [{ path: 'region', encoding: 'text' as const }];
    const settings = { take: { files, results: { files: [] } } };
    const { slots } = readTool(TOOL, { settings, dialects }).facts;
    expect(slots.map(({ path, declaredBy }) => [path.join('.'), declaredBy])).toEqual([
      ['region', 'config'],
      ['doc.data', 'mcp-inline'],
      ['pages.[]', 'mcp-inline'],
    ]);
  });
});

it('what a client is to the dialects is found out once', () => {
  const openai = { protocolVersion: '2025-11-25', capabilities: {}, dialects: ['openai-file-params'] };
  const reader = readerOf(openai, dialects);
  expect(reader).toMatchObject({ lifts: true, isPlain: false, passes: new Set(['openai-file-params']) });
  expect(readerOf(openai, dialects)).toBe(reader);
  expect(readerOf({ protocolVersion: '2025-11-25', capabilities: {} }, dialects)).toMatchObject({ isPlain: true });
});
