import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { plainClient } from '../../contract/objects/s3-buckets.js';
import { type FaultStores, filesystemStores, SECRET, s3Stores } from '../../helpers/fault-stores.js';
import { RawClient } from '../../helpers/raw-client.js';
import { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { freshName, redisUrl } from '../../helpers/services.js';
import { STORES, startWharf, type Wharf } from '../../helpers/wharf.js';

/** More than is compared with its digest at each use, and in S3 an object of two parts. */
const BYTES = randomBytes(5 * 1024 * 1024 + 100_000);

const TOOLS = [
  { name: 'render', inputSchema: { type: 'object', properties: {} } },
  { name: 'ocr', inputSchema: { type: 'object', properties: { file: { type: 'string', format: 'uri' } } } },
];

type Files = { 'dev.wharf/files'?: { uri: string; url: string }[] };

describe.each(STORES)('a file whose object something else has written to, with %s', (kind) => {
  let folder: string;
  let stores: FaultStores;
  let upstream: RecordingUpstream;
  const running: Wharf[] = [];

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'wharf-changed-'));
    stores = kind === 's3+redis' ? s3Stores() : await filesystemStores(folder);
    const image = { type: 'image', mimeType: 'application/zip', data: BYTES.toString('base64') };
    upstream = await RecordingUpstream.start({
      tools: TOOLS,
      methods: {
        'tools/call': ({ name }) => ({ content: name === 'render' ? [image] : [{ type: 'text', text: 'read' }] }),
      },
    });
  });
  afterEach(async () => {
    for (const wharf of running.splice(0)) await wharf.stop();
    await upstream.stop();
    await stores.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** The object, read and written by another program. */
  const beside = async () => {
    const [name = ''] = await stores.objects();
    if (kind !== 's3+redis') {
      const path = join(folder, 'objects/f', name);
      return { read: () => readFile(path), write: (bytes: Buffer) => writeFile(path, bytes) };
    }
    const { bucket } = stores.config.objects as { bucket: string };
    const client = plainClient(bucket);
    const target = { Bucket: bucket, Key: name };
    return {
      read: async () =>
        Buffer.from((await (await client.send(new GetObjectCommand(target))).Body?.transformToByteArray()) ?? []),
      write: async (bytes: Buffer) => void (await client.send(new PutObjectCommand({ ...target, Body: bytes }))),
    };
  };

  it('is refused by every way to its bytes, also after a restart; its own bytes, written again, are served', async () => {
    const state = { use: 'redis', url: redisUrl(), keyPrefix: `${freshName('changed')}:` };
    const config = { ...stores.config, state, secret: SECRET, links: { style: 'gateway', ttl: '1h' } };
    const begin = async () => {
      const wharf = await startWharf({
        servers: {
          files: {
            url: upstream.url,
            accepts: '10MiB',
            transport: 'streamable-http',
            tools: { ocr: { files: { file: { encoding: 'base64' } } } },
          },
        },
        config,
      });
      running.push(wharf);
      return { wharf, client: await RawClient.connect(wharf.mcp) };
    };
    const first = await begin();
    const { result } = await first.client.call('render', {});
    const [file] = (result?._meta as Files | undefined)?.['dev.wharf/files'] ?? [];
    if (!file) throw new Error(JSON.stringify(result));
    const link = new URL(file.url).pathname;
    /** Without following a redirect to the store: whether Wharf leads there is what counts. */
    const get = (at: Wharf, headers: Record<string, string> = {}) =>
      fetch(at.url + link, { headers: { origin: at.url, ...headers } });
    expect((await get(first.wharf)).status).toBe(200);

    const object = await beside();
    expect((await object.read()).equals(BYTES)).toBe(true);
    const others = Buffer.from(BYTES);
    others.fill('x', 1000, 2000);
    await object.write(others);
    for (const { wharf, client } of [first, await begin()]) {
      for (const range of [undefined, 'bytes=1500-1600', 'bytes=0-0', 'bytes=-10']) {
        const answer = await get(wharf, range === undefined ? {} : { range });
        expect([answer.status, await answer.text()]).toEqual([
          410,
          expect.stringMatching(/changed where it is stored/),
        ]);
      }
      const redirected = await fetch(wharf.url + link, { redirect: 'manual' });
      expect(redirected.status).toBe(410);
      const before = upstream.with('tools/call').length;
      const call = await client.call('ocr', { file: file.uri });
      expect(call.result).toMatchObject({ isError: true });
      expect(call.result?.content?.[0]?.text).toMatch(/no longer stored/);
      expect(upstream.with('tools/call')).toHaveLength(before);
      expect(wharf.lines.filter(({ text }) => text.includes('changed outside Wharf'))).toHaveLength(1);
    }

    await object.write(BYTES);
    const { wharf, client } = await begin();
    const part = await get(wharf, { range: 'bytes=1500-1600' });
    expect([part.status, Buffer.from(await part.arrayBuffer())]).toEqual([206, BYTES.subarray(1500, 1601)]);
    expect(Buffer.from(await (await get(wharf)).arrayBuffer()).equals(BYTES)).toBe(true);
    await client.call('ocr', { file: file.uri });
    expect(upstream.lastArguments.file === BYTES.toString('base64')).toBe(true);
  });
});
