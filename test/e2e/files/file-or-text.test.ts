import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Ajv } from 'ajv';
import { type Json, type Lab, lab } from './recording-lab.js';

const LONG = Buffer.alloc(60, 'z');
const TEXT = { type: 'string' };
const FILE = { ...TEXT, contentEncoding: 'base64', pattern: '^[A-Za-z0-9+/=]*$' };
const ADDRESS = { ...TEXT, format: 'uri', pattern: '^https?:' };
const KEYWORD = { ...TEXT, format: 'uri', 'x-mcp-file': {} };
const of = (image: Json) => ({ inputSchema: { type: 'object', properties: { image } } });
const TOOLS = [
  // as zod writes a union of base64 and an address
  { name: 'any', ...of({ anyOf: [FILE, ADDRESS] }) },
  { name: 'address first', ...of({ anyOf: [ADDRESS, FILE] }) },
  { name: 'one', ...of({ oneOf: [FILE, ADDRESS] }) },
  { name: 'keyword', ...of({ anyOf: [TEXT, KEYWORD] }) },
  { name: 'two files', ...of({ anyOf: [FILE, { ...FILE, contentMediaType: 'image/png' }] }) },
];
const BOTH = ['any', 'address first', 'one', 'keyword'];

let files: Lab;

beforeAll(async () => {
  files = await lab(TOOLS);
});

afterAll(() => files?.stop());

describe('an argument that is a file or another text', () => {
  it.each(BOTH)('%s: an address, a path or a word is for the tool, as without Wharf', async (name) => {
    for (const image of ['https://example.com/a.png', 'latest', '/srv/a.png', 's3://bucket/a.png']) {
      expect(await files.sent(name, { image })).toEqual({ image });
    }
  });

  it.each(BOTH)('%s: a file is a file', async (name) => {
    const data = `data:text/plain;base64,${LONG.toString('base64')}`;
    const image = name === 'keyword' ? data : LONG.toString('base64');
    expect(await files.sent(name, { image: data })).toEqual({ image });
    for (const handle of ['mcp-file://wharf/f_AAAAAAAAAAAAAAAAAAAAAA', `${files.wharf.url}/d/f_AAAA`]) {
      expect(await files.refused(name, { image: handle })).toBeDefined();
    }
  });

  it.each(BOTH)('%s: what a generous server reads as base64 is not passed on unseen', async (name) => {
    expect(await files.refused(name, { image: `${LONG.toString('base64')}!` })).toMatchObject({
      reason: 'malformedUri',
    });
  });

  it.each(BOTH)('%s: what clients see takes both', async (name) => {
    const { result } = await files.client.request('tools/list');
    const tools = result?.tools as { name: string; inputSchema: Json }[];
    const { inputSchema = {} } = tools.find((tool) => tool.name === name) ?? {};
    const text = JSON.stringify(inputSchema);
    expect(text.match(/"x-mcp-file"/g)).toHaveLength(1);
    expect(text).not.toContain('contentEncoding');
    const ajv = new Ajv({ strict: false });
    ajv.addFormat('uri', /^[a-z][a-z0-9+.-]*:/i);
    const validate = ajv.compile(inputSchema);
    for (const image of ['https://example.com/a.png', 'mcp-file://wharf/f_AAAAAAAAAAAAAAAAAAAAAA']) {
      expect([image, validate({ image }), validate.errors]).toEqual([image, true, null]);
    }
  });

  it('two kinds of files are no other text', async () => {
    expect(await files.refused('two files', { image: 'https://example.com/a.png' })).toMatchObject({
      reason: 'schemeNotAllowed',
    });
  });
});
