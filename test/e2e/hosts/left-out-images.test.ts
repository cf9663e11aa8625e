import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RawClient } from '../../helpers/raw-client.js';
import { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { noisePng } from '../../helpers/sdk-servers-bytes.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

type Json = Record<string, unknown>;

const image = (size: number): Json => ({
  ...{ type: 'image', mimeType: 'image/png' },
  data: noisePng(size).toString('base64'),
});
const SMALL = image(12);
const DOTS = [{ ...SMALL, annotations: { audience: ['user'] } }, SMALL];
const RESULTS: Record<string, Json> = {
  large: { content: [{ type: 'text', text: 'a chart' }, image(600)] },
  small: { content: [{ type: 'text', text: 'a dot' }, ...DOTS] },
  renamed: {
    content: [
      { ...SMALL, mimeType: 'image/jpeg' },
      { ...SMALL, data: `data:image/png;base64,${SMALL.data}` },
    ],
  },
  'many renamed': {
    content: Array.from({ length: 30 }, (_, index) => ({ ...image(index + 8), mimeType: 'image/jpeg' })),
  },
  many: { content: Array.from({ length: 30 }, (_, index) => image(index + 8)) },
};
const UNSEEN = 'If no image follows, you are not shown it: the user can open the link.';

/** The OpenAI Agents SDK gives images to responses, and none to chat completions; its name does not say which it uses. */
describe('a host that may leave images out', () => {
  let upstream: RecordingUpstream;
  let wharf: Wharf;
  let client: RawClient;

  beforeAll(async () => {
    upstream = await RecordingUpstream.start({
      tools: Object.keys(RESULTS).map((name) => ({ name, inputSchema: { type: 'object' } })),
      methods: { 'tools/call': ({ name }) => RESULTS[String(name)] },
    });
    wharf = await startWharf({
      servers: { s: { url: upstream.url, transport: 'streamable-http' } },
      config: { limits: { files: 20 } },
    });
    client = await RawClient.connect(wharf.mcp, '2025-06-18', { name: 'stdio: node', version: '1.0.0' });
  });

  afterAll(async () => {
    await wharf.stop();
    await upstream.stop();
  });

  async function content(tool: string): Promise<Json[]> {
    return (await client.call(tool, {})).result?.content as Json[];
  }

  it('is told with each preview what it means that no image follows', async () => {
    const [, told, preview] = await content('large');
    expect(String(told?.text).trim().split('\n').slice(-2)).toEqual([
      expect.stringMatching(/^The image below is a preview of /),
      UNSEEN,
    ]);
    expect(preview?.type).toBe('image');
  });

  it('gets the link of a small image before the image, which stays as it is', async () => {
    const { result } = await client.call('small', {});
    const blocks = result?.content as Json[];
    expect(blocks.map(({ type }) => type)).toEqual(['text', 'text', 'image', 'text', 'image']);
    expect([blocks[2], blocks[4]]).toEqual(DOTS);
    const lines = String(blocks[1]?.text).trim().split('\n');
    expect(lines[0]).toMatch(/^small-1\.png · image\/png · \d+ bytes$/);
    expect((await fetch(String(lines[1]))).headers.get('content-type')).toBe('image/png');
    expect(lines.at(-1)).toBe(UNSEEN);
    const { 'dev.wharf/files': files = [] } = (result?._meta ?? {}) as { 'dev.wharf/files'?: Json[] };
    expect(files.map(({ contentIndex }) => contentIndex)).toEqual([2, 4]);
  });

  it('gets it also before an image that its server has written in another way than MCP has it', async () => {
    const { result } = await client.call('renamed', {});
    const blocks = result?.content as Json[];
    expect(blocks.map(({ type }) => type)).toEqual(['text', 'image', 'text', 'image']);
    expect([blocks[1], blocks[3]]).toEqual([SMALL, SMALL]);
    const { 'dev.wharf/files': files = [] } = (result?._meta ?? {}) as { 'dev.wharf/files'?: Json[] };
    expect(files.map(({ contentIndex }) => contentIndex)).toEqual([0, 2]);
    for (const at of [0, 2]) expect(String(blocks[at]?.text).trim().split('\n').at(-1)).toBe(UNSEEN);
  });

  it.each(['many', 'many renamed'])(
    'gets so many texts as a result may have files, and every image (%s)',
    async (tool) => {
      const blocks = await content(tool);
      expect(blocks.filter(({ type }) => type === 'image')).toEqual(RESULTS.many?.content);
      expect(blocks.filter(({ type }) => type === 'text')).toHaveLength(20);
    },
  );
});
