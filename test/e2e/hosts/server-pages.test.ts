import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { RawClient } from '../../helpers/raw-client.js';
import { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { noisePng } from '../../helpers/sdk-servers-bytes.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

type Json = Record<string, unknown>;

const BIG = noisePng(600).toString('base64');
/** In lines, as Python writes it, and too long to be kept as it came. */
const LINES = Buffer.alloc(1_600_000, 'lines ').toString('base64').replace(/.{76}/g, '$&\n');
const PAGE = Buffer.from(`<!doctype html><title>page</title>${'<p>page</p>'.repeat(500_000)}`).toString('base64');
const BASE64 = { type: 'string', contentEncoding: 'base64' };

const image = (data: string): Json => ({ type: 'image', data, mimeType: 'image/png' });
const blob = (uri: string, data: string): Json => ({ type: 'resource', resource: { uri, blob: data } });
const text = (words: string): Json => ({ type: 'text', text: words });

const RESULTS: Record<string, Json> = {
  image: { content: [image(BIG)] },
  blob: { content: [blob('doc://a.pdf', BIG)] },
  json: { content: [text(JSON.stringify({ type: 'image', mimeType: 'image/png', data: BIG }))] },
  structured: { content: [text('here'), image(BIG)], structuredContent: { file: BIG, again: BIG } },
  long: { content: [text('a '.repeat(300_000))], structuredContent: { n: 1 } },
  failed: { isError: true, content: [blob('doc://a.pdf', BIG)] },
  broken: { isError: true, content: [image(noisePng(8).toString('base64')), blob('doc://b.pdf', 'AAAA')] },
  lines: { content: [blob('doc://s/lines.bin', LINES)] },
};

const tool = (name: string, visibility?: readonly string[]): Json => ({
  name: visibility ? `${visibility.join('-')}-${name}` : name,
  inputSchema: { type: 'object' },
  ...(name === 'structured' && { outputSchema: { type: 'object', properties: { file: BASE64 } } }),
  _meta: { ui: { resourceUri: 'ui://s/page', ...(visibility && { visibility }) } },
});
const NAMES = Object.keys(RESULTS);
const TOOLS = [['app'], ['model', 'app'], undefined].flatMap((visibility) =>
  NAMES.map((name) => tool(name, visibility)),
);
const UI = { extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } } };

describe('the pages of a server that its client’s host shows (MCP Apps)', () => {
  let upstream: RecordingUpstream;
  let wharf: Wharf;

  beforeAll(async () => {
    upstream = await RecordingUpstream.start({
      methods: {
        'tools/list': () => ({ tools: TOOLS }),
        'tools/call': ({ name }) => RESULTS[String(name).split('-').at(-1) ?? ''],
        'resources/read': ({ uri }) => ({ contents: [{ uri, mimeType: 'text/html;profile=mcp-app', blob: PAGE }] }),
      },
    });
    wharf = await startWharf({
      servers: {
        s: {
          url: upstream.url,
          transport: 'streamable-http',
          tools: { 'app-structured': { files: {} } },
        },
        told: {
          url: upstream.url,
          transport: 'streamable-http',
          tools: { 'app-structured': { results: { files: ['file'] } } },
        },
        typed: { url: upstream.url, transport: 'streamable-http', limits: { acceptResults: ['text/plain'] } },
      },
      config: { clients: [{ match: { name: 'silent' }, dialects: ['mcp-apps'] }] },
    });
  });

  afterAll(async () => {
    await wharf.stop();
    await upstream.stop();
  });

  const open = (capabilities: Json = UI, name = 'raw', server = 's') =>
    RawClient.connect(`${wharf.url}/${server}/mcp`, '2025-11-25', { capabilities, name });

  it.each(NAMES.filter((name) => name !== 'lines'))('get what only they call for as it is: %s', async (name) => {
    const { result, answer } = await (await open()).call(`app-${name}`);
    expect(result).toEqual(RESULTS[name]);
    expect(answer.text).not.toContain('dev.wharf');
  });

  it('whatever its model is shown of results by the host', async () => {
    for (const host of ['claude-code', 'Visual Studio Code', 'codex-mcp-client']) {
      const client = await open(UI, host);
      for (const name of ['image', 'structured', 'long']) {
        expect((await client.call(`app-${name}`)).result).toEqual(RESULTS[name]);
      }
    }
  });

  it('on 2026-07-28 too, where each request says that its host shows them', async () => {
    const client = RawClient.stateless(`${wharf.url}/s/mcp`, '2026-07-28', { capabilities: UI });
    expect((await client.call('app-image')).result).toMatchObject(RESULTS.image as Json);
  });

  it('through an SDK’s client that validates what it gets', async () => {
    const client = new Client({ name: 'host', version: '1' }, { capabilities: UI });
    await client.connect(new StreamableHTTPClientTransport(new URL(`${wharf.url}/s/mcp`)));
    await client.listTools();
    const result = await client.callTool({ name: 'app-structured', arguments: {} });
    expect(result.structuredContent).toEqual((RESULTS.structured as { structuredContent: Json }).structuredContent);
    const { contents } = await client.readResource({ uri: 'ui://s/page' });
    expect(contents[0]).toMatchObject({ uri: 'ui://s/page', blob: PAGE });
    await client.close();
  });

  it('are read whole, however long they are as bytes', async () => {
    const { result } = await (await open()).request('resources/read', { uri: 'ui://s/page' });
    expect(result?.contents).toEqual([{ uri: 'ui://s/page', mimeType: 'text/html;profile=mcp-app', blob: PAGE }]);
    const other = await (await open()).request('resources/read', { uri: 'doc://s/page' });
    expect(other.result?.contents).toMatchObject([{ mimeType: 'text/uri-list' }]);
  });

  it('get a link where a file can no longer be written as it came', async () => {
    const { result } = await (await open()).call('app-lines');
    expect(result?._meta).toMatchObject({ 'dev.wharf/files': [{ size: 1_600_000, name: 'lines.bin' }] });
  });

  it.each(['model-app-image', 'image'])('share what a model is given too, as links: %s', async (name) => {
    const { answer } = await (await open()).call(name);
    expect(answer.text).not.toContain(BIG.slice(0, 1000));
    expect(answer.text).toContain('dev.wharf/files');
  });

  it('do not exist for a host that shows none: its model calls every tool', async () => {
    const { answer } = await (await open({})).call('app-image');
    expect(answer.text).not.toContain(BIG.slice(0, 1000));
    const page = await (await open({})).request('resources/read', { uri: 'ui://s/page' });
    expect(page.result?.contents).toMatchObject([{ mimeType: 'text/uri-list' }]);
  });

  it('are shown by a host of which the config says so', async () => {
    expect((await (await open({}, 'silent')).call('app-image')).result).toEqual(RESULTS.image);
  });

  it('get links where the config says that a file is', async () => {
    const { result } = await (await open(UI, 'raw', 'told')).call('app-structured');
    expect(result?.structuredContent).toMatchObject({ file: expect.stringMatching(/^http/) });
  });

  it('get no file that the config keeps from clients', async () => {
    const { result, answer } = await (await open(UI, 'raw', 'typed')).call('app-image');
    expect(answer.text).not.toContain(BIG.slice(0, 1000));
    expect(result?.content?.[0]?.text).toContain('image/png');
  });
});
