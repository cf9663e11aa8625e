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

/** As a camera or a scanner writes it: a thumbnail and a long colour profile come before the size. */
async function photo(height: number): Promise<Buffer> {
  const bytes = await sharp({ create: { width: 300, height, channels: 3, background: '#fff' } })
    .jpeg()
    .toBuffer();
  const segment = Buffer.concat([Buffer.from('ffe2ffff', 'hex'), Buffer.from('x'.repeat(0xffff - 2))]);
  return Buffer.concat([bytes.subarray(0, 2), segment, segment, bytes.subarray(2)]);
}

/** Base64 as MIME writes it, which some servers send. */
const inLines = (bytes: Buffer) => bytes.toString('base64').replaceAll(/.{76}/g, '$&\r\n');

describe('an image with a longer edge than the service of its model takes', () => {
  let upstream: RecordingUpstream;
  let wharf: Wharf;
  const images = new Map<string, Buffer>();

  beforeAll(async () => {
    for (const height of [8000, 8001]) images.set(String(height), await tall(height));
    for (const height of [8000, 8001]) images.set(`photo ${height}`, await photo(height));
    images.set('lines 8001', await photo(8001));
    upstream = await RecordingUpstream.start({
      methods: {
        'tools/list': () => ({ tools: [...images.keys()].map((name) => ({ name, inputSchema: { type: 'object' } })) }),
        'tools/call': ({ name }) => {
          const bytes = images.get(String(name)) ?? Buffer.alloc(0);
          const data = /lines/.test(String(name)) ? inLines(bytes) : bytes.toString('base64');
          return { content: [{ type: 'image', data, mimeType: /^8/.test(String(name)) ? 'image/png' : 'image/jpeg' }] };
        },
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

  it.each(['claude-ai', 'claude-code', 'opencode', 'Cline', 'ai-sdk-mcp-client', 'some-client'])(
    'is a preview with a link for %s',
    async (host) => {
      const [text, preview] = await call(host, '8001');
      expect(text?.text).toMatch(/^8001-1\.png · image\/png · /);
      const bytes = Buffer.from(String(preview?.data), 'base64');
      expect((await sharp(bytes).metadata()).height).toBeLessThan(2000);
      const link = /^(http\S+)$/m.exec(String(text?.text))?.[1] ?? '';
      expect(Buffer.from(await (await fetch(link)).arrayBuffer())).toEqual(images.get('8001'));
    },
  );

  it.each(['photo 8001', 'lines 8001'])('is found behind the metadata of a JPEG (%s)', async (tool) => {
    const [text, preview] = await call('claude-ai', tool);
    expect(text?.text).toMatch(/ · image\/jpeg · /);
    expect((await sharp(Buffer.from(String(preview?.data), 'base64')).metadata()).height).toBeLessThan(2000);
    expect(await call('claude-ai', 'photo 8000')).toMatchObject([{ type: 'image', mimeType: 'image/jpeg' }]);
    expect(await call('another', tool)).toMatchObject([{ type: 'image', mimeType: 'image/jpeg' }]);
  });

  it('stays as it is where it is not longer, and for a host of which no such service is known', async () => {
    expect(await call('claude-ai', '8000')).toMatchObject([{ type: 'image', mimeType: 'image/png' }]);
    expect(await call('another', '8001')).toMatchObject([{ type: 'image', mimeType: 'image/png' }]);
  });
});
