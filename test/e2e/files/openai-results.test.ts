import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RawClient } from '../../helpers/raw-client.js';
import { type Lab, lab } from './recording-lab.js';

const LARGE = Buffer.alloc(100_000, 'Wharf. ');
const OTHER = Buffer.alloc(90_000, 'Other. ');
const SMALL = Buffer.from('small');

const block = (bytes: Buffer, name: string) => ({
  type: 'resource',
  resource: { uri: `doc://files/${name}`, mimeType: 'text/plain', blob: bytes.toString('base64') },
});

const RESULTS: Record<string, Record<string, unknown>> = {
  one: { content: [block(LARGE, 'a.txt')] },
  two: { content: [block(LARGE, 'a.txt'), block(OTHER, 'b.txt'), block(LARGE, 'a.txt')] },
  small: { content: [block(SMALL, 'a.txt')] },
  shaped: { content: [block(LARGE, 'a.txt')], isError: false },
  structured: { content: [block(LARGE, 'a.txt')], structuredContent: { n: 1 } },
};

const OBJECT = { type: 'object' };
const tools = Object.keys(RESULTS).map((name) => ({
  name,
  inputSchema: OBJECT,
  ...(name === 'shaped' && { outputSchema: { type: 'object', properties: { n: { type: 'number' } } } }),
}));

describe('files in the results that a client of OpenAI gets', () => {
  let results: Lab;

  beforeAll(async () => {
    results = await lab(tools, {
      methods: { 'tools/call': ({ name }) => RESULTS[String(name)] },
      config: { clients: [{ match: { name: 'chat*' }, dialects: ['openai-file-params'] }] },
      about: { name: 'chatgpt' },
    });
  });

  afterAll(() => results?.stop());

  const resultOf = async (name: string, from = results.client) => (await from.call(name)).result;

  it('one is the structuredContent, fetched without a credential, beside a text (OAI-14)', async () => {
    const result = await resultOf('one');
    expect(result?.structuredContent).toEqual({
      download_url: expect.stringMatching(/^http/),
      file_id: expect.stringMatching(/^mcp-file:/),
      mime_type: 'text/plain',
      file_name: 'a.txt',
    });
    const { download_url: url } = (result?.structuredContent ?? {}) as { download_url: string };
    expect(Buffer.from(await (await fetch(url)).arrayBuffer())).toEqual(LARGE);
    expect(result?.content?.[0]).toMatchObject({ type: 'text', text: expect.stringContaining('a.txt') });
  });

  it('several are a list, each of them once (OAI-14)', async () => {
    const result = await resultOf('two');
    expect(result?.structuredContent).toMatchObject({ files: [{ file_name: 'a.txt' }, { file_name: 'b.txt' }] });
    expect(result).toHaveProperty('structuredContent.files.length', 2);
  });

  it.each(['small', 'shaped', 'structured'])('the shape stays as it is: %s (OAI-14)', async (name) => {
    expect((await resultOf(name))?.structuredContent).toEqual(RESULTS[name]?.structuredContent);
  });

  it('other clients, and older ones, get none (OAI-14)', async () => {
    const other = await RawClient.connect(results.wharf.mcp, '2025-06-18', { name: 'other' });
    expect(await resultOf('one', other)).not.toHaveProperty('structuredContent');
    const old = await RawClient.connect(results.wharf.mcp, '2025-03-26', { name: 'chatgpt' });
    expect(await resultOf('one', old)).not.toHaveProperty('structuredContent');
  });
});
