import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RawClient } from '../../helpers/raw-client.js';
import { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { noisePng } from '../../helpers/sdk-servers-bytes.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

type Json = Record<string, unknown>;

const page = (length: number) => `<!doctype html><title>Sitze</title><script>${'let a;\n'.repeat(length)}</script>`;
const LONG = page(40_000);
const base64 = (text: string) => Buffer.from(text).toString('base64');
const embedded = (resource: Json): Json => ({ type: 'resource', resource });
const text = (words: string): Json => ({ type: 'text', text: words });
const IMAGE = { type: 'image', data: noisePng(600).toString('base64'), mimeType: 'image/png' };

const CONTENT: Record<string, Json> = {
  text: { content: [text('Choose a seat.'), embedded({ uri: 'ui://seats/1', mimeType: 'text/html', text: LONG })] },
  bytes: { content: [embedded({ uri: 'ui://seats/1', mimeType: 'text/html', blob: base64(LONG) })] },
  short: { content: [embedded({ uri: 'ui://seats/1', mimeType: 'text/html', blob: base64(page(3)) })] },
  remote: {
    content: [embedded({ uri: 'UI://seats/1', mimeType: 'application/vnd.mcp-ui.remote-dom', blob: base64('a') })],
  },
  beside: { content: [IMAGE, embedded({ uri: 'ui://seats/1', mimeType: 'text/html', blob: base64(LONG) })] },
  file: { content: [embedded({ uri: 'file:///seats.html', mimeType: 'text/html', text: LONG })] },
  failed: { isError: true, content: [embedded({ uri: 'ui://seats/1', mimeType: 'text/html', blob: base64(LONG) })] },
  stored: { content: [embedded({ uri: 'file:///seats.html', mimeType: 'text/html', blob: base64(LONG) })] },
};

describe('a page that a server embeds in a result (MCP-UI)', () => {
  let upstream: RecordingUpstream;
  let wharf: Wharf;

  beforeAll(async () => {
    upstream = await RecordingUpstream.start({
      methods: {
        'tools/list': () => ({
          tools: Object.keys(CONTENT).map((name) => ({ name, inputSchema: { type: 'object' } })),
        }),
        'tools/call': ({ name }) => CONTENT[String(name)],
      },
    });
    wharf = await startWharf({
      servers: { s: { url: upstream.url, transport: 'streamable-http' } },
      config: {
        clients: [
          {
            match: { name: 'my-agent' },
            host: { embeddedTexts: 'keep-pages', text: { most: 1000, unit: 'bytes', per: 'block' } },
          },
        ],
      },
    });
  });

  afterAll(async () => {
    await wharf.stop();
    await upstream.stop();
  });

  async function call(name: string, tool: string): Promise<Json> {
    const client = await RawClient.connect(wharf.mcp, '2025-06-18', { name });
    return ((await client.call(tool, {})).result ?? {}) as Json;
  }

  it.each(['goose-desktop', '@librechat/api-client', 'my-agent'])('stays as it came for %s', async (host) => {
    for (const tool of ['text', 'bytes', 'short', 'remote']) expect(await call(host, tool)).toEqual(CONTENT[tool]);
  });

  it('stays beside a file that becomes a link', async () => {
    const { content } = (await call('goose-desktop', 'beside')) as { content: Json[] };
    expect(content.map(({ type }) => type)).toEqual(['text', 'image', 'resource_link', 'resource']);
    expect(content.at(-1)).toEqual((CONTENT.beside as { content: Json[] }).content[1]);
  });

  it('becomes a link in an error, of which a host makes one text, and stays where it is shown like any other', async () => {
    const { content } = (await call('my-agent', 'failed')) as { content: Json[] };
    expect(content).toEqual([text(expect.stringMatching(/^1\.html · text\/html · .*\nhttp/) as unknown as string)]);
    expect(await call('goose-desktop', 'failed')).toEqual(CONTENT.failed);
  });

  it('is not every page that a server has', async () => {
    const { content: long } = (await call('goose-desktop', 'file')) as { content: Json[] };
    expect(JSON.stringify(long).length).toBeLessThan(100_000);
    const { content: linked } = (await call('goose-desktop', 'stored')) as { content: Json[] };
    expect(linked.map(({ type }) => type)).toEqual(['text', 'resource_link']);
  });

  it('is a long text like any other where no user is shown it', async () => {
    for (const host of ['claude-code', 'codex-mcp-client'])
      expect(JSON.stringify(await call(host, 'text')).length).toBeLessThan(60_000);
    expect(JSON.stringify(await call('some-client', 'bytes')).length).toBeLessThan(5000);
  });
});
