import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createInterface } from 'node:readline';
import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import sharp from 'sharp';
import { type Child, freePort, startChild } from '../lib/children.js';
import { exchange, measure, openSession, toolCall } from '../lib/client.js';
import { serverScript } from '../lib/paths.js';
import { makePicture } from '../lib/pictures.js';
import { blobChars, blobPieces, fileDigest, filePieces } from './blob.js';
import { type PictureName, pictureText } from './picture.js';

let child: Child;
let port: number;

async function start(script: string): Promise<void> {
  port = await freePort();
  child = await startChild({ command: process.execPath, args: [serverScript(script), String(port)], port });
}

describe('the discarding object store', () => {
  const target = { Bucket: 'bench', Key: 'some/key' };
  let client: S3Client;

  beforeEach(async () => {
    await start('discard-s3');
    client = new S3Client({
      region: 'us-east-1',
      endpoint: `http://127.0.0.1:${port}`,
      forcePathStyle: true,
      credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
    });
  });
  afterEach(async () => {
    client.destroy();
    await child.stop();
  });

  it('gives back what is small', async () => {
    await client.send(new PutObjectCommand({ ...target, Body: Buffer.from('hello') }));
    const { Body } = await client.send(new GetObjectCommand(target));
    expect(await Body?.transformToString()).toBe('hello');
  });

  it('knows the size of an object of many parts', async () => {
    const { UploadId } = await client.send(new CreateMultipartUploadCommand(target));
    for (const PartNumber of [1, 2]) {
      await client.send(new UploadPartCommand({ ...target, UploadId, PartNumber, Body: Buffer.alloc(100_000) }));
    }
    const Parts = [1, 2].map((PartNumber) => ({ PartNumber, ETag: '"0"' }));
    await client.send(new CompleteMultipartUploadCommand({ ...target, UploadId, MultipartUpload: { Parts } }));
    expect((await client.send(new HeadObjectCommand(target))).ContentLength).toBe(200_000);
    const stats = JSON.parse((await exchange(new URL(`http://127.0.0.1:${port}/__stats`), {})).text);
    expect(stats).toEqual({ objects: 1, bytes: 200_000, reads: 0, last: { key: 'bench/some/key', size: 200_000 } });
  });
});

describe('the fast upstream', () => {
  afterEach(() => child.stop());
  beforeEach(() => start('fast-upstream'));

  it.each(['sse', 'json'])('answers over %s with the blob it was asked for', async (server) => {
    const session = await openSession(`http://127.0.0.1:${port}/${server}/mcp`);
    const seen: Buffer[] = [];
    const message = toolCall('blob', { mb: 1 });
    const measured = await measure(session, message, 10_000, (chunk) => seen.push(Buffer.from(chunk)));
    expect(measured.error).toBeUndefined();
    const text = Buffer.concat(seen)
      .toString('latin1')
      .replaceAll(/\r\n[0-9a-f]*\r\n/g, '');
    const data = /"data":"([A-Za-z0-9+/]+)","mimeType":"image\/png"/.exec(text)?.[1];
    expect(data).toHaveLength(1_000_000);
    expect(measured.end).toContain(`"id":${message.id}}`);
  });

  it('says a JSON-RPC error to the client as an error', async () => {
    const session = await openSession(`http://127.0.0.1:${port}/json/mcp`);
    const measured = await measure(session, { jsonrpc: '2.0', id: 1, method: 'nonsense' }, 10_000);
    expect(measured.error).toContain('Method not found');
  });
});

describe('the pattern', () => {
  it.each([0.4, 1, 3])('of %d MB is the same as bytes and as base64', (mb) => {
    const text = Buffer.concat([...blobPieces(blobChars(mb))]).toString('latin1');
    const bytes = Buffer.from(text, 'base64');
    expect(Buffer.concat([...filePieces(bytes.length)]).equals(bytes)).toBe(true);
    expect(fileDigest(bytes.length)).toBe(createHash('sha256').update(bytes).digest('hex'));
  });
});

describe('the recording server', () => {
  let server: ChildProcessWithoutNullStreams;
  let lines: AsyncIterator<string>;

  beforeEach(() => {
    server = spawn(process.execPath, [serverScript('file-recording')]);
    lines = createInterface({ input: server.stdout })[Symbol.asyncIterator]();
  });
  afterEach(() => {
    server.kill();
  });

  const call = (id: number, file: string) =>
    `${JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'take', arguments: { file } } })}\n`;
  const told = async () => {
    const { id, result } = JSON.parse((await lines.next()).value) as {
      id: number;
      result: { content: { text: string }[] };
    };
    return { id, ...(JSON.parse(result.content[0]?.text ?? '') as object) };
  };

  it.each([7, 1000, 100_000])('tells files apart that come in pieces of %d bytes', async (step) => {
    const sizes = [50_000, 0, 49_999];
    const text = sizes.map((size, id) => call(id, Buffer.concat([...filePieces(size)]).toString('base64'))).join('');
    for (let at = 0; at < text.length; at += step) server.stdin.write(text.slice(at, at + step));
    for (const [id, size] of sizes.entries()) {
      expect(await told()).toEqual({ id, size, sha256: fileDigest(size) });
    }
  });

  it('answers what has no file', async () => {
    server.stdin.write('{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n');
    expect((await lines.next()).value).toContain('"name":"take"');
  });
});

describe('a picture', () => {
  it.each<[PictureName, number, number]>([
    ['screenshot', 1920, 1080],
    ['photo', 4000, 3000],
  ])('has other bytes with another number, and the same pixels: %s', async (name, width, height) => {
    await makePicture(name);
    const [one, other] = [1, 12_345].map((number) => {
      const { pieces, bytes } = pictureText(name, number);
      const text = Buffer.concat(pieces);
      expect(text.length).toBe(bytes);
      return Buffer.from(text.toString('latin1'), 'base64');
    });
    expect(one).not.toEqual(other);
    for (const image of [one, other]) {
      expect(await sharp(image).metadata()).toMatchObject({ width, height });
      await sharp(image, { failOn: 'warning' }).resize(8).toBuffer();
    }
  });
});
