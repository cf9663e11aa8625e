import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { CallToolResult, ContentBlock, ReadResourceResult } from '@modelcontextprotocol/sdk/types.js';
import { recordDigest } from '../helpers/bytes.js';
import { type Gateway, startGateway } from '../helpers/gateway-process.js';
import { type SdkServer, startBlobs, type Transport } from '../helpers/sdk-servers.js';
import { noise, noisePng } from '../helpers/sdk-servers-bytes.js';
import { connect, directly, overHttp } from '../helpers/sdk-servers-transcript.js';

const FILES = 'dev.wharf/files';

/** Base64 characters a preview may have at most. */
const PREVIEW_MAX = 100 * 1024;

/** One entry of a result's `_meta["dev.wharf/files"]`. */
interface ListedFile {
  uri: string;
  url: string;
  name: string;
  mimeType: string;
  size: number;
  digest: string;
  expiresAt: unknown;
  contentIndex?: number;
  pointer?: string;
}

/** The block at `index`, which has to be of `type`. */
function block<T extends ContentBlock['type']>(result: { content: ContentBlock[] }, index: number, type: T) {
  const found = result.content[index];
  if (found?.type !== type) throw new Error(`block ${index} is ${found?.type}, not ${type}`);
  return found as Extract<ContentBlock, { type: T }>;
}

function listed(result: CallToolResult): ListedFile[] {
  return (result._meta?.[FILES] ?? []) as ListedFile[];
}

async function download(url: string): Promise<Buffer> {
  const response = await fetch(url);
  expect(response.status).toBe(200);
  expect(response.headers.get('x-content-type-options')).toBe('nosniff');
  expect(response.headers.get('content-disposition')).toMatch(/^(?:inline|attachment)/);
  return Buffer.from(await response.arrayBuffer());
}

describe.each<Transport>(['stdio', 'sse', 'http'])('a server of blobs over %s', (transport) => {
  let server: SdkServer;
  let gateway: Gateway;
  let client: Client;
  let direct: Client;

  beforeAll(async () => {
    server = await startBlobs(transport);
    gateway = await startGateway({ args: server.wharfArgs });
    client = await connect(overHttp(gateway.mcp()));
    direct = await connect(directly(server));
  });

  afterAll(async () => {
    await client?.close();
    await direct?.close();
    await gateway?.stop();
    server?.stop();
  });

  async function call(name: string, args: Record<string, unknown>): Promise<CallToolResult> {
    return (await client.callTool({ name, arguments: args })) as CallToolResult;
  }

  it('gives a big image as text, a preview and a link, in the place where it stood', async () => {
    const original = noisePng(1000);
    const result = await call('picture', { side: 1000 });

    expect(result.content.map(({ type }) => type)).toEqual(['text', 'text', 'image', 'resource_link', 'text']);
    expect(block(result, 0, 'text').text).toBe('before');
    expect(block(result, 4, 'text').text).toBe('after');

    const link = block(result, 3, 'resource_link');
    expect(link).toMatchObject({ name: 'picture-1.png', mimeType: 'image/png', size: original.length });
    expect(recordDigest(await download(link.uri))).toBe(recordDigest(original));

    const preview = block(result, 2, 'image');
    expect(preview.data.length).toBeLessThanOrEqual(PREVIEW_MAX);
    expect(['image/png', 'image/jpeg']).toContain(preview.mimeType);

    const told = block(result, 1, 'text');
    for (const word of ['picture-1.png', 'image/png', 'the original is 1000 × 1000', link.uri])
      expect(told.text).toContain(word);
    expect(told).toMatchObject({ annotations: { audience: ['user'], priority: 0.5 }, _meta: { 'test/kept': 1 } });
  });

  it('lists the file for programs', async () => {
    const original = noisePng(1000);
    const result = await call('picture', { side: 1000 });
    const [file, ...others] = listed(result);
    expect(others).toEqual([]);
    expect(file).toMatchObject({
      name: 'picture-1.png',
      mimeType: 'image/png',
      size: original.length,
      contentIndex: 1,
    });
    expect(file?.uri).toMatch(/^mcp-file:\/\/[^/]+\/f_/);
    expect(file?.url).toBe(block(result, 3, 'resource_link').uri);
    expect(file?.digest).toBe(recordDigest(original));
  });

  it('gives big audio as text and a link', async () => {
    const result = await call('sound', { bytes: 200_000 });
    expect(result.content.map(({ type }) => type)).toEqual(['text', 'resource_link']);
    const link = block(result, 1, 'resource_link');
    expect(link).toMatchObject({ size: 200_000 });
    expect(recordDigest(await download(link.uri))).toBe(recordDigest(noise(200_000)));
  });

  it('gives a big embedded resource as text and a link', async () => {
    const result = await call('document', { bytes: 300_000 });
    expect(result.content.map(({ type }) => type)).toEqual(['text', 'resource_link']);
    const link = block(result, 1, 'resource_link');
    expect(link.name).toMatch(/report/);
    expect(recordDigest(await download(link.uri))).toBe(recordDigest(noise(300_000)));
  });

  it('cuts a text that is wholly a data: URI', async () => {
    const result = await call('data_uri', { bytes: 100_000 });
    expect(result.content.map(({ type }) => type)).toEqual(['text', 'resource_link']);
    expect(recordDigest(await download(block(result, 1, 'resource_link').uri))).toBe(recordDigest(noise(100_000)));
  });

  it('keeps many blobs of one result apart and in order', async () => {
    const result = await call('many', { count: 5, bytes: 150_000 });
    expect(result.content.map(({ type }) => type)).toEqual(Array(5).fill(['text', 'resource_link']).flat());
    expect(listed(result).map(({ contentIndex }) => contentIndex)).toEqual([0, 2, 4, 6, 8]);
    const digests = await Promise.all(listed(result).map(async ({ url }) => recordDigest(await download(url))));
    expect(digests).toEqual([1, 2, 3, 4, 5].map((seed) => recordDigest(noise(150_000, seed))));
  });

  it('moves 20 MB, which an SDK client cannot take from a stdio server itself', async () => {
    const result = await call('sound', { bytes: 20_000_000 });
    const [file] = listed(result);
    expect(file?.size).toBe(20_000_000);
    expect(recordDigest(await download(file?.url ?? ''))).toBe(recordDigest(noise(20_000_000)));
  });

  it('leaves what is small as it came', async () => {
    for (const [name, args] of [
      ['picture', { side: 100 }],
      ['sound', { bytes: 20_000 }],
      ['document', { bytes: 20_000 }],
      ['many', { count: 3, bytes: 1000 }],
      ['data_uri', { bytes: 1000 }],
    ] as const) {
      expect(await call(name, args)).toEqual(await direct.callTool({ name, arguments: args }));
    }
    expect(await client.listTools()).toEqual(await direct.listTools());
  });

  it('reads a resource of up to 4 MiB byte for byte, and a bigger one as a link (Q5)', async () => {
    const small = await client.readResource({ uri: 'noise:///3000000' });
    expect(small).toEqual({
      contents: [
        {
          uri: 'noise:///3000000',
          mimeType: 'application/octet-stream',
          blob: noise(3_000_000).toString('base64'),
        },
      ],
    });
    const big: ReadResourceResult = await client.readResource({ uri: 'noise:///6000000' });
    const [item] = big.contents;
    expect(item).toMatchObject({ uri: 'noise:///6000000', mimeType: 'text/uri-list' });
    const link = item !== undefined && 'text' in item ? item.text.trim() : '';
    expect(recordDigest(await download(link))).toBe(recordDigest(noise(6_000_000)));
  });

  it('keeps one block in each prompt message: the preview of an image, else a link', async () => {
    const picture = await client.getPrompt({ name: 'picture', arguments: { side: '1000' } });
    expect(picture.messages).toHaveLength(1);
    const preview = picture.messages[0]?.content;
    expect(preview?.type).toBe('image');
    expect(preview?.type === 'image' ? preview.data.length : 0).toBeLessThanOrEqual(PREVIEW_MAX);

    const sound = await client.getPrompt({ name: 'sound', arguments: { bytes: '200000' } });
    expect(sound.messages).toHaveLength(1);
    const link = sound.messages[0]?.content;
    expect(link?.type).toBe('resource_link');
    const uri = link?.type === 'resource_link' ? link.uri : '';
    expect(recordDigest(await download(uri))).toBe(recordDigest(noise(200_000)));
  });
});
