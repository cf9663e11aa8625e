import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RawClient } from '../../helpers/raw-client.js';
import { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { noisePng } from '../../helpers/sdk-servers-bytes.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

type Json = Record<string, unknown>;

const image = (data: string, mimeType = 'image/png'): Json => ({ type: 'image', data, mimeType });
const base64 = (bytes: Buffer | string): string => Buffer.from(bytes).toString('base64');

const SMALL = base64(noisePng(8));
const MIDDLE = base64(noisePng(80));
const LARGE = base64(noisePng(200));
const HEIC = base64(Buffer.concat([Buffer.from('0000001c6674797068656963', 'hex'), Buffer.alloc(200)]));

const CONTENT: Record<string, Json> = {
  broken: { content: [image(base64('<html><h1>502</h1></html>')), image(''), image(base64(Buffer.alloc(300, 7)))] },
  'broken-off': {
    content: [8, 200].flatMap((edge) => {
      const bytes = noisePng(edge);
      return [image(base64(bytes)), image(base64(bytes.subarray(0, bytes.length / 2)))];
    }),
  },
  browser: {
    content: [
      { ...image(`data:image/png;base64,${SMALL}`), annotations: { priority: 1 } },
      image(`data:image/webp;base64,${MIDDLE}`, 'image/webp'),
    ],
  },
  long: { content: [image(`data:image/png;base64,${LARGE}`)] },
  other: { content: [image('data:image/png,%89PNG'), image(`data:text/html;base64,${base64('<html></html>')}`)] },
  failed: {
    isError: true,
    content: [
      { type: 'text', text: 'The camera is off.' },
      image(`${MIDDLE.slice(0, -4)}***`),
      image(`${LARGE.slice(0, -4)}***`),
    ],
  },
  heic: { content: [image(HEIC, 'image/heic')] },
};

describe('an image block that holds no image as MCP has it', () => {
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
    wharf = await startWharf({ servers: { s: { url: upstream.url, transport: 'streamable-http' } } });
  });

  afterAll(async () => {
    await wharf.stop();
    await upstream.stop();
  });

  async function call(host: string, tool: string): Promise<{ types: unknown[]; content: Json[]; result: Json }> {
    const client = await RawClient.connect(wharf.mcp, '2025-06-18', { name: host });
    const { result } = await client.call(tool, {});
    const content = result?.content ?? [];
    return { types: content.map(({ type }) => type), content, result: result ?? {} };
  }

  function textsOf(content: readonly Json[]): string[] {
    return content.flatMap(({ type, text }) => (type === 'text' ? [String(text)] : []));
  }

  it.each(['claude-code', 'Visual Studio Code', 'gemini-cli-mcp-client', 'codex-mcp-client'])(
    'is a text with a link for %s: a service refuses the whole conversation for bytes that are no image',
    async (host) => {
      const { content, types } = await call(host, 'broken');
      expect(types).not.toContain('image');
      expect(textsOf(content)).toEqual([
        expect.stringMatching(/^broken-1\.html · text\/html · 25 bytes\n[\s\S]*<html><h1>502<\/h1><\/html>\n?$/),
        expect.stringMatching(/^broken-2\.png · image\/png · 0 bytes\n/),
        expect.stringMatching(/^broken-3\.png · image\/png · 300 bytes\n/),
      ]);
    },
  );

  it('is one too where a PNG breaks off, however long it is', async () => {
    for (const host of ['claude-code', 'Visual Studio Code']) {
      const { content, types } = await call(host, 'broken-off');
      expect(types).toEqual(['image', 'text', 'image', 'text']);
      for (const text of textsOf(content))
        expect(text).toMatch(/^broken-off-\d\.png · image\/png · [\s\S]*There is no preview of this image\.\n?$/);
    }
  });

  it('gets its base64 alone where its server has written a data: URI', async () => {
    for (const host of ['claude-ai', 'opencode']) {
      const { content, types } = await call(host, 'browser');
      expect(content).toEqual([{ ...image(SMALL), annotations: { priority: 1 } }, image(MIDDLE)]);
      expect(types).toEqual(['image', 'image']);
    }
    expect((await call('github-copilot-developer', 'browser')).types).not.toContain('image');
    expect((await call('claude-code', 'long')).types).toEqual(['text', 'image']);
    const { content, types } = await call('claude-code', 'other');
    expect(types).toEqual(['image', 'text']);
    expect(textsOf(content)[0]).toMatch(/ · text\/html · 13 bytes\n/);
  });

  it('stays for a model that takes its format, which its first bytes do not tell here', async () => {
    expect((await call('gemini-cli-mcp-client', 'heic')).result).toEqual(CONTENT.heic);
    expect((await call('claude-code', 'heic')).types).not.toContain('image');
  });

  it('passes as it came to a client that is not known', async () => {
    for (const tool of ['broken', 'broken-off', 'browser', 'heic', 'other', 'failed'])
      expect((await call('some-client', tool)).result).toEqual(CONTENT[tool]);
  });
});
