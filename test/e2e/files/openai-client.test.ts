import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RawClient } from '../../helpers/raw-client.js';
import { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

const text = { type: 'string' };
const REQUIRED = ['download_url', 'file_id'];

const TOOLS = [
  {
    name: 'ocr',
    inputSchema: {
      type: 'object',
      properties: { image: { type: 'string', pattern: '^[A-Z]', description: 'Base64 of a PNG' }, lang: text },
      required: ['image'],
    },
  },
  {
    name: 'join',
    inputSchema: {
      type: 'object',
      properties: { parts: { type: 'array', items: text, minItems: 1, maxItems: 4, description: 'The parts' } },
    },
  },
  {
    name: 'deep',
    inputSchema: {
      type: 'object',
      properties: {
        doc: { type: 'object', properties: { data: text, note: text } },
        cover: { anyOf: [text, { type: 'null' }] },
        pages: { type: 'array', items: { type: 'object', properties: { data: text } } },
      },
    },
  },
  { name: 'plain', inputSchema: { type: 'object', properties: { x: text } } },
];

const files = (path: string, rest = {}) => ({ files: { [path]: { encoding: 'base64', ...rest } } });

describe('what a client of OpenAI sees of file arguments', () => {
  let upstream: RecordingUpstream;
  let wharf: Wharf;

  beforeAll(async () => {
    upstream = await RecordingUpstream.start({ tools: TOOLS });
    const tools = {
      ocr: files('image', { accept: ['image/png'], maxSize: '1MiB' }),
      join: files('parts[]'),
      deep: {
        files: {
          'doc.data': { encoding: 'base64' },
          'pages[].data': { encoding: 'base64' },
          cover: { encoding: 'base64' },
        },
      },
    };
    wharf = await startWharf({
      servers: { s: { url: upstream.url, transport: 'streamable-http', tools } },
      config: { clients: [{ match: { name: 'chat*' }, dialects: ['openai-file-params'] }] },
    });
  });

  afterAll(async () => {
    await wharf.stop();
    await upstream.stop();
  });

  type Tool = {
    name: string;
    _meta?: Record<string, unknown>;
    inputSchema: { properties: Record<string, Record<string, unknown>>; required?: string[] };
  };
  const toolsFor = async (name: string): Promise<Record<string, Tool>> => {
    const client = await RawClient.connect(wharf.mcp, '2025-06-18', { name });
    const { result } = await client.request('tools/list');
    return Object.fromEntries(((result?.tools ?? []) as Tool[]).map((tool) => [tool.name, tool]));
  };

  it('the names of top-level arguments, each of them a property (OAI-01)', async () => {
    const tools = await toolsFor('chatgpt');
    expect(tools.ocr?._meta).toEqual({ 'openai/fileParams': ['image'] });
    expect(tools.join?._meta).toEqual({ 'openai/fileParams': ['parts'] });
    expect(tools.plain).toEqual(TOOLS[3]);
    for (const tool of Object.values(tools)) {
      for (const name of (tool._meta?.['openai/fileParams'] ?? []) as string[]) {
        expect(Object.keys(tool.inputSchema.properties)).toContain(name);
      }
    }
  });

  it('an object of four texts, two of them required, open to more (OAI-03, OAI-04, OAI-07)', async () => {
    const { ocr } = await toolsFor('chatgpt');
    expect(ocr?.inputSchema.properties.image).toEqual({
      type: 'object',
      properties: { download_url: text, file_id: text, mime_type: text, file_name: text },
      required: REQUIRED,
      description: 'Base64 of a PNG. A file of type image/png, at most 1 MB.',
    });
    expect(ocr?.inputSchema.required).toEqual(['image']);
    expect(ocr?.inputSchema.properties.lang).toEqual(text);
  });

  it('an array of them has the object for its items (OAI-05)', async () => {
    const { join } = await toolsFor('chatgpt');
    expect(join?.inputSchema.properties.parts).toMatchObject({
      type: 'array',
      minItems: 1,
      maxItems: 4,
      description: 'The parts',
      items: { type: 'object', required: REQUIRED },
    });
  });

  it('a nested argument is lifted to the top level; one in the items of an array takes a handle (OAI-02)', async () => {
    const { deep } = await toolsFor('chatgpt');
    expect(deep?._meta).toEqual({ 'openai/fileParams': ['doc_data', 'cover'] });
    const { doc_data: lifted, doc, cover, pages } = deep?.inputSchema.properties ?? {};
    expect(lifted).toMatchObject({ type: 'object', required: REQUIRED });
    expect(doc).toEqual({ type: 'object', properties: { note: text } });
    expect(cover).toMatchObject({ type: 'object', required: REQUIRED });
    const { items } = pages as { items: { properties: { data: { type: string; description: string } } } };
    expect(items.properties.data.type).toBe('string');
    expect(items.properties.data.description).toMatch(/mcp-file:/);
  });

  it('other clients see a text and no list (OAI-19)', async () => {
    const { ocr, join } = await toolsFor('other');
    expect(ocr?._meta).toBeUndefined();
    expect(ocr?.inputSchema.properties.image?.type).toBe('string');
    expect(join?.inputSchema.properties.parts).toMatchObject({ type: 'array', items: { type: 'string' } });
  });

  it('on 2026-07-28 a list made for such a client is no other client’s', async () => {
    const ask = async (name: string) => {
      const client = RawClient.stateless(wharf.mcp, '2026-07-28', { name });
      return (await client.request('tools/list')).result;
    };
    expect(await ask('chatgpt')).toMatchObject({ cacheScope: 'private' });
    expect(await ask('other')).not.toHaveProperty('cacheScope');
  });
});
