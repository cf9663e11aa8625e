import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RawClient } from '../../helpers/raw-client.js';
import { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

type Json = Record<string, unknown>;

const BASE64 = { type: 'string', contentEncoding: 'base64', minLength: 4 };
const SENT = Buffer.from('a few words').toString('base64');

const TOOLS = [
  {
    name: 'scan',
    inputSchema: {
      type: 'object',
      properties: { page: BASE64, pages: { type: 'array', items: BASE64 }, marked: { ...BASE64, 'x-mcp-file': {} } },
    },
  },
];

/** Keywords that services of models are known to refuse. */
const REFUSED = /"(?:format|x-mcp-file|contentEncoding)":/;

describe('a host whose models’ service refuses keywords in the schemas of tools', () => {
  let upstream: RecordingUpstream;
  let wharf: Wharf;

  beforeAll(async () => {
    upstream = await RecordingUpstream.start({
      methods: {
        'tools/list': () => ({ tools: TOOLS }),
        'tools/call': () => ({ content: [{ type: 'text', text: 'scanned' }] }),
      },
    });
    wharf = await startWharf({
      servers: { s: { url: upstream.url, transport: 'streamable-http' } },
      config: {
        clients: [
          { match: { name: 'on-gemini' }, host: { fileArguments: 'plain' } },
          { match: { name: 'keeper' }, like: 'langchain', host: { fileArguments: 'keep' } },
        ],
      },
    });
  });

  afterAll(async () => {
    await wharf.stop();
    await upstream.stop();
  });

  async function shown(name: string): Promise<{ client: RawClient; schema: Json; all: string }> {
    const client = await RawClient.connect(wharf.mcp, '2025-06-18', { name, version: '1.0.0' });
    const { result } = await client.request('tools/list');
    const tools = (result as { tools: { name: string; inputSchema: Json }[] }).tools;
    const scan = tools.find((tool) => tool.name === 'scan');
    return { client, schema: scan?.inputSchema ?? {}, all: JSON.stringify(tools.map((tool) => tool.inputSchema)) };
  }

  it.each(['@langchain/mcp-adapters', 'ai-sdk-mcp-client', 'on-gemini'])(
    '%s is shown strings, whose description says what to pass',
    async (name) => {
      const { schema, all } = await shown(name);
      expect(all).not.toMatch(REFUSED);
      const { page, pages } = schema.properties as { page: Json; pages: { items: Json } };
      for (const one of [page, pages.items]) {
        expect(one).toEqual({ type: 'string', description: expect.stringContaining('mcp-file://') });
      }
    },
  );

  it.each(['keeper', 'some-client'])('%s is shown the keyword', async (name) => {
    const { page, marked } = (await shown(name)).schema.properties as { page: Json; marked: Json };
    for (const one of [page, marked]) expect(one).toMatchObject({ format: 'uri', 'x-mcp-file': expect.anything() });
  });

  it.each([
    ['a data: URI', `data:text/plain;base64,${SENT}`],
    ['base64', SENT],
  ])('passes %s all the same', async (_what, page) => {
    const { client } = await shown('on-gemini');
    await client.call('scan', { page });
    expect(upstream.lastArguments).toMatchObject({ page: SENT });
  });
});
