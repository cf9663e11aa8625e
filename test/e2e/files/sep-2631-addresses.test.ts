import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { RawClient } from '../../helpers/raw-client.js';
import { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';
import { SPEAKS } from './sep-2631-lab.js';

const FILE = { uri: 'https://files.example.com/r/1?a=b', name: 'a.pdf', mimeType: 'application/pdf', size: 1234 };
const BLOCKS = [
  { type: 'text', text: 'before' },
  { type: 'file', file: FILE, annotations: { priority: 1 } },
  { type: 'file', file: { uri: 'file:///srv/a.bin' } },
];
const TEXT = { type: 'text', text: `a.pdf · application/pdf · 1.2 kB\n${FILE.uri}` };
const LINK = { type: 'resource_link', ...FILE };
const ITEM = { uri: 'docs://r', mimeType: 'application/pdf', content: { uri: FILE.uri } };

describe('a file block whose URI is an address', () => {
  let upstream: RecordingUpstream;
  let wharf: Wharf;

  beforeAll(async () => {
    upstream = await RecordingUpstream.start({
      tools: [{ name: 'make', inputSchema: { type: 'object' } }],
      methods: {
        'tools/call': () => ({ content: BLOCKS }),
        'prompts/get': () => ({ messages: [{ role: 'user', content: { type: 'file', file: FILE } }] }),
        'resources/read': () => ({ contents: [ITEM] }),
      },
    });
    wharf = await startWharf({ servers: { s: { url: upstream.url, transport: 'streamable-http' } } });
  });

  afterAll(async () => {
    await wharf.stop();
    await upstream.stop();
  });

  it.each([
    ['2025-11-25', () => RawClient.connect(wharf.mcp, '2025-11-25')],
    ['2026-07-28', async () => RawClient.stateless(wharf.mcp, '2026-07-28', {})],
  ])(
    'is a text and a link to a client of %s that declared nothing, and is not fetched (2631-43)',
    async (_era, open) => {
      const client = await open();
      expect((await client.call('make')).result?.content).toEqual([
        { type: 'text', text: 'before' },
        { ...TEXT, annotations: { priority: 1 } },
        LINK,
        { type: 'text', text: 'file:///srv/a.bin' },
        { type: 'resource_link', uri: 'file:///srv/a.bin', name: 'file:///srv/a.bin' },
      ]);
      const prompt = (await client.request('prompts/get', { name: 'p' })).result;
      expect(prompt?.messages).toEqual([{ role: 'user', content: LINK }]);
      const read = (await client.request('resources/read', { uri: 'docs://r' })).result;
      expect(read?.contents).toEqual([{ uri: 'docs://r', mimeType: 'text/uri-list', text: FILE.uri }]);
      expect(upstream.with('files/authorizeDownload')).toEqual([]);
    },
  );

  it('is a text where there were no links yet (2631-43)', async () => {
    const { result } = await (await RawClient.connect(wharf.mcp, '2025-03-26')).call('make');
    expect(result?.content?.map(({ type }) => type)).toEqual(['text', 'text', 'text']);
  });

  it('passes to a client that declares files, as it came', async () => {
    const client = await RawClient.connect(wharf.mcp, '2025-11-25', SPEAKS);
    expect((await client.call('make')).result?.content).toEqual(BLOCKS);
    expect((await client.request('resources/read', { uri: 'docs://r' })).result?.contents).toEqual([ITEM]);
  });

  it('lets an SDK client read its result, which such a block makes it refuse (2631-43)', async () => {
    const sdk = new Client({ name: 'plain', version: '1' });
    const connected = async (url: string) => sdk.connect(new StreamableHTTPClientTransport(new URL(url)) as Transport);
    await connected(upstream.url);
    await expect(sdk.callTool({ name: 'make', arguments: {} })).rejects.toThrow();
    await sdk.close();
    await connected(wharf.mcp);
    expect((await sdk.callTool({ name: 'make', arguments: {} })).content).toContainEqual(LINK);
    await sdk.close();
  });
});
