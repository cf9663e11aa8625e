import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { recordDigest } from '../helpers/bytes.js';
import { type Gateway, startGateway } from '../helpers/gateway-process.js';
import { filesystemServer } from '../helpers/sdk-servers.js';
import { noise, noisePng } from '../helpers/sdk-servers-bytes.js';
import { connect, directly, overHttp } from '../helpers/sdk-servers-transcript.js';
import { freshName, redisUrl, s3Config } from '../helpers/services.js';

/** Where files and state are kept: the embedded default, and what several replicas share. */
const PLACES = {
  'the file system and memory': () => ({}),
  'S3 and Redis': () => ({
    objects: { use: 's3', ...s3Config(freshName('e2e')) },
    state: { use: 'redis', url: redisUrl(), keyPrefix: `${freshName('e2e')}:` },
    secret: 'the tests of this repository share this secret',
  }),
};

const PICTURE = noisePng(1000);

describe.each(Object.entries(PLACES))('the official file server, with files in %s', (_name, place) => {
  let folder: string;
  let gateway: Gateway;
  let client: Client;
  let direct: Client;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'wharf-files-'));
    await writeFile(join(folder, 'picture.png'), PICTURE);
    await writeFile(join(folder, 'small.png'), noisePng(20));
    await writeFile(join(folder, 'archive.zip'), noise(1_500_000));
    await writeFile(join(folder, 'note.txt'), 'a note');
    const server = filesystemServer(folder);
    const [command, ...args] = server.command ?? [];
    gateway = await startGateway({ config: { servers: { files: { command: [command, ...args] } }, ...place() } });
    client = await connect(overHttp(gateway.mcp('files')));
    direct = await connect(directly(server));
    // An SDK client holds structuredContent against the schema only once it has listed the tools.
    await client.listTools();
  });

  afterAll(async () => {
    await client?.close();
    await direct?.close();
    await gateway?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  async function read(name: string): Promise<CallToolResult> {
    const path = join(folder, name);
    return (await client.callTool({ name: 'read_media_file', arguments: { path } })) as CallToolResult;
  }

  it('serves a 3 MB picture as text, a preview and a link', async () => {
    const result = await read('picture.png');
    expect(result.content.map(({ type }) => type)).toEqual(['text', 'image', 'resource_link']);
    const [, preview, link] = result.content;
    if (preview?.type !== 'image' || link?.type !== 'resource_link') throw new Error('other blocks');
    expect(Buffer.from(preview.data, 'base64').length).toBeLessThan(100 * 1024);
    expect(link).toMatchObject({ mimeType: 'image/png', size: PICTURE.length });
    const response = await fetch(link.uri);
    expect(response.status).toBe(200);
    const bytes = Buffer.from(await response.arrayBuffer());
    expect(recordDigest(bytes)).toBe(recordDigest(PICTURE));
    expect(response.headers.get('content-type')).toBe('image/png');
    expect(response.headers.get('content-disposition')).toMatch(/^inline/);
  });

  it('puts the link where structuredContent held the same bytes, so that it still fits the schema', async () => {
    const result = await read('picture.png');
    const link = result.content.find(({ type }) => type === 'resource_link');
    const uri = link?.type === 'resource_link' ? link.uri : '';
    expect(result.structuredContent).toEqual({ content: [{ type: 'image', data: uri, mimeType: 'image/png' }] });
  });

  it('keeps the answer small', async () => {
    const result = await read('picture.png');
    expect(JSON.stringify(result).length).toBeLessThan(150_000);
  });

  it('serves any other file as text and a link', async () => {
    const result = await read('archive.zip');
    expect(result.content.map(({ type }) => type)).toEqual(['text', 'resource_link']);
    const link = result.content[1];
    const response = await fetch(link?.type === 'resource_link' ? link.uri : '');
    expect(Buffer.from(await response.arrayBuffer()).equals(noise(1_500_000))).toBe(true);
  });

  it('resumes a download', async () => {
    const result = await read('picture.png');
    const link = result.content[2];
    const url = link?.type === 'resource_link' ? link.uri : '';
    const response = await fetch(url, { headers: { range: 'bytes=1000-1999' } });
    expect(response.status).toBe(206);
    expect(Buffer.from(await response.arrayBuffer()).equals(PICTURE.subarray(1000, 2000))).toBe(true);
  });

  it('changes nothing else', async () => {
    const calls = [
      { name: 'read_media_file', arguments: { path: join(folder, 'small.png') } },
      { name: 'read_text_file', arguments: { path: join(folder, 'note.txt') } },
      { name: 'list_directory', arguments: { path: folder } },
      { name: 'read_media_file', arguments: { path: '/etc/shadow' } },
    ];
    for (const call of calls) expect(await client.callTool(call)).toEqual(await direct.callTool(call));
    expect(await client.listTools()).toEqual(await direct.listTools());
  });
});
