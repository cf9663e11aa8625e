import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RawClient } from '../../helpers/raw-client.js';
import { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

type Json = Record<string, unknown>;

interface Shown {
  properties: { attachments: { items: { properties: { contentBytes?: Json } } } };
}

const SENT = Buffer.from('a few words').toString('base64');

/** As servers of Microsoft Graph have it: the bytes of an attachment are not among its named members. */
const ATTACHMENT = { type: 'object', properties: { name: { type: 'string' } }, additionalProperties: true };
const inputSchema = { type: 'object', properties: { attachments: { type: 'array', items: ATTACHMENT } } };

describe('a configured file argument that its tool leaves open', () => {
  let upstream: RecordingUpstream;
  let wharf: Wharf;

  beforeAll(async () => {
    upstream = await RecordingUpstream.start({
      methods: {
        'tools/list': () => ({ tools: [{ name: 'mail', inputSchema }] }),
        'tools/call': () => ({ content: [{ type: 'text', text: 'sent' }] }),
      },
    });
    const files = { 'attachments[].contentBytes': { encoding: 'base64' as const, name: 'name' } };
    wharf = await startWharf({
      servers: { s: { url: upstream.url, transport: 'streamable-http', tools: { mail: { files } } } },
    });
  });

  afterAll(async () => {
    await wharf.stop();
    await upstream.stop();
  });

  it.each(['claude-code', 'some-client', '@langchain/mcp-adapters'])('is shown to %s', async (name) => {
    const client = await RawClient.connect(wharf.mcp, '2025-06-18', { name, version: '1.0.0' });
    const { tools } = (await client.request('tools/list')).result as { tools: { name: string; inputSchema: Shown }[] };
    const [attachments] = tools.flatMap((tool) =>
      tool.name === 'mail' ? tool.inputSchema.properties.attachments : [],
    );
    const contentBytes = attachments?.items.properties.contentBytes ?? {};
    expect(contentBytes.type).toBe('string');
    expect(String(contentBytes.description)).toMatch(/^A file, at most .*mcp-file:/);
    await client.call('mail', { attachments: [{ contentBytes: `data:text/plain;base64,${SENT}` }] });
    expect(upstream.lastArguments?.attachments).toMatchObject([{ contentBytes: SENT }]);
  });
});
