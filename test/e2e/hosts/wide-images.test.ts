import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import sharp from 'sharp';
import { RawClient } from '../../helpers/raw-client.js';
import { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

/** A screenshot of a long page: few bytes, but more pixels on an edge than a model's service takes. */
const tall = (height: number) =>
  sharp({ create: { width: 300, height, channels: 3, background: '#fff' } })
    .png()
    .toBuffer();

describe('an image with a longer edge than the service of its model takes', () => {
  let upstream: RecordingUpstream;
  let wharf: Wharf;
  const images = new Map<string, Buffer>();

  beforeAll(async () => {
    for (const height of [8000, 8001]) images.set(String(height), await tall(height));
    upstream = await RecordingUpstream.start({
      methods: {
        'tools/list': () => ({ tools: [...images.keys()].map((name) => ({ name, inputSchema: { type: 'object' } })) }),
        'tools/call': ({ name }) => ({
          content: [{ type: 'image', data: images.get(String(name))?.toString('base64'), mimeType: 'image/png' }],
        }),
      },
    });
    wharf = await startWharf({
      servers: { s: { url: upstream.url, transport: 'streamable-http' } },
      config: { clients: [{ match: { name: 'some-client' }, host: { imageEdge: 8000 } }] },
    });
  });

  afterAll(async () => {
    await wharf.stop();
    await upstream.stop();
  });

  async function call(host: string, tool: string): Promise<Record<string, unknown>[]> {
    const client = await RawClient.connect(wharf.mcp, '2025-06-18', { name: host });
    return ((await client.call(tool, {})).result?.content ?? []) as Record<string, unknown>[];
  }

  it.each(['claude-ai', 'claude-code', 'opencode', 'some-client'])('is a preview with a link for %s', async (host) => {
    const [text, preview] = await call(host, '8001');
    expect(text?.text).toMatch(/^8001-1\.png · image\/png · /);
    const bytes = Buffer.from(String(preview?.data), 'base64');
    expect((await sharp(bytes).metadata()).height).toBeLessThan(2000);
    const link = /^(http\S+)$/m.exec(String(text?.text))?.[1] ?? '';
    expect(Buffer.from(await (await fetch(link)).arrayBuffer())).toEqual(images.get('8001'));
  });

  it('stays as it is where it is not longer, and for a host of which no such service is known', async () => {
    expect(await call('claude-ai', '8000')).toMatchObject([{ type: 'image', mimeType: 'image/png' }]);
    expect(await call('another', '8001')).toMatchObject([{ type: 'image', mimeType: 'image/png' }]);
  });
});
