import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RawClient } from '../../helpers/raw-client.js';
import { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

type Json = Record<string, unknown>;

const KIB = 1024;
const ACCEPTS = 256 * KIB;
const INLINE = 128 * KIB;
const TEXT = { type: 'string' };
const OBJECT = { file: { encoding: 'object', template: { text: '$text' } } };

/** By encoding: the largest file that is published, and the one that takes the most room in it. */
const SIZES: readonly (readonly [string, number, Buffer])[] = [
  ['base64', 195_837, Buffer.of(255)],
  ['hex', 130_559, Buffer.of(255)],
  ['bytes', 65_279, Buffer.of(255)],
  ['text', 261_118, Buffer.from('a')],
];

describe('the size of files that a client is told', () => {
  let upstream: RecordingUpstream;
  let wharf: Wharf;

  beforeAll(async () => {
    const names = [...SIZES.map(([encoding]) => encoding), 'object'];
    upstream = await RecordingUpstream.start({
      tools: [
        ...names.map((name) => ({ name, inputSchema: { type: 'object', properties: { file: TEXT } } })),
        {
          name: 'upload',
          inputSchema: {
            type: 'object',
            properties: { file: { ...TEXT, format: 'uri', 'x-mcp-file': { transferModes: ['upload'] } } },
          },
        },
      ],
    });
    const tools = Object.fromEntries(SIZES.map(([encoding]) => [encoding, { files: { file: { encoding } } }]));
    wharf = await startWharf({
      servers: {
        s: {
          url: upstream.url,
          transport: 'streamable-http',
          accepts: ACCEPTS,
          tools: { ...tools, object: { files: OBJECT } },
        },
      },
      config: { limits: { inlineArgument: INLINE } },
    });
  });

  afterAll(async () => {
    await wharf.stop();
    await upstream.stop();
  });

  const uploading = (version = '2025-06-18') =>
    RawClient.connect(wharf.mcp, version, { capabilities: { files: { upload: true, download: true } } });

  async function shown(client: RawClient, tool: string): Promise<{ description: string; maxSize: number }> {
    const { result } = await client.request('tools/list');
    const tools = result?.tools as { name: string; inputSchema: { properties: { file: Json } } }[];
    const file = tools.find(({ name }) => name === tool)?.inputSchema.properties.file;
    const keyword = file?.['x-mcp-file'] as { maxSize: number } | undefined;
    return { description: String(file?.description), maxSize: keyword?.maxSize ?? 0 };
  }

  async function upload(client: RawClient, bytes: Buffer): Promise<string> {
    const { result } = await client.request('files/authorizeUpload', { name: 'f', size: bytes.length });
    const { file, upload: how } = result as unknown as { file: { uri: string }; upload: { url: string } };
    await fetch(how.url, { method: 'POST', body: new Uint8Array(bytes) });
    return file.uri;
  }

  it.each(SIZES)('%s: %i bytes are taken, whatever they are, and one more is not', async (encoding, size, byte) => {
    const client = await uploading();
    expect((await shown(client, encoding)).maxSize).toBe(size);
    const before = upstream.with('tools/call').length;
    const { result: taken } = await client.call(encoding, { file: await upload(client, Buffer.alloc(size, byte)) });
    expect(taken).not.toHaveProperty('isError');
    const { result: refused } = await client.call(encoding, {
      file: await upload(client, Buffer.alloc(size + 1, byte)),
    });
    expect(refused?._meta).toMatchObject({ 'dev.wharf/fileError': { reason: 'maxSizeExceeded', maxSize: size } });
    expect(upstream.with('tools/call')).toHaveLength(before + 1);
    expect(upstream.with('tools/call').at(-1)?.body.length).toBeLessThanOrEqual(ACCEPTS);
  });

  it.each(['text', 'object'])('%s that needs escapes is measured, and refused before its first byte', async (tool) => {
    const client = await uploading();
    const before = upstream.with('tools/call').length;
    const lines = Buffer.alloc(200_000, 'a\n');
    const { result } = await client.call(tool, { file: await upload(client, lines) });
    expect(result?.content?.[0]?.text).toContain(
      'takes messages of at most 262.1 kB; with the files in file this one has',
    );
    expect(upstream.with('tools/call')).toHaveLength(before);
    const { result: fits } = await client.call(tool, { file: await upload(client, lines.subarray(0, 160_000)) });
    expect(fits).not.toHaveProperty('isError');
  });

  it('a client that does not upload is told what may stand in a call (2356-08)', async () => {
    const client = await RawClient.connect(wharf.mcp);
    expect((await shown(client, 'base64')).maxSize).toBe(INLINE);
    expect((await shown(client, 'bytes')).maxSize).toBe(65_279);
    const file = (size: number) => `data:application/octet-stream;base64,${Buffer.alloc(size).toString('base64')}`;
    expect((await client.call('base64', { file: file(INLINE) })).result).not.toHaveProperty('isError');
    const { result } = await client.call('base64', { file: file(INLINE + 1) });
    expect(result?._meta).toMatchObject({ 'dev.wharf/fileError': { reason: 'maxSizeExceeded', maxSize: INLINE } });
    // with a handle it may be larger, and the model is told both sizes
    const { description } = await shown(client, 'base64');
    expect(description).toContain('at most 195.8 kB');
    expect(description).toContain('A short data: URI also works, up to 131 kB.');
    expect((await shown(client, 'bytes')).description).toContain('A short data: URI also works. ');
  });

  it('where only uploads are taken, what may stand in a call is no limit (2356-08)', async () => {
    expect((await shown(await RawClient.connect(wharf.mcp), 'upload')).maxSize).toBe(100 * KIB * KIB);
  });
});
