import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { ListMultipartUploadsCommand, type S3Client } from '@aws-sdk/client-s3';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { ObjectStore } from '../../../gateway/ports/object-store.js';
import { someBytes } from '../../helpers/bytes.js';
import { FaultProxy } from '../../helpers/fault-proxy.js';
import { s3Config } from '../../helpers/services.js';
import { fetchBytes, keysOf, store } from '../object-store.contract.js';
import { freshBucket, openStore } from './s3-buckets.js';

const NEVER = new AbortController().signal;
/** Short, so that a test can wait for it; long enough for a real part on a busy machine. */
const TIMEOUT_MS = 3000;
const TIMED_OUT = { code: 'store_timeout', facts: { limit: 'timeouts.store', allowed: TIMEOUT_MS } };

describe('s3 object store when the network', () => {
  let proxy: FaultProxy;
  let objects: ObjectStore;
  /** The same with the short time-out: for what waits for it, and for nothing else. */
  let hasty: ObjectStore;
  let beside: S3Client;
  let bucket: string;
  let count = 0;

  const fresh = () => {
    count += 1;
    return `f/fault-${count}`;
  };
  const openUploads = async (): Promise<number> =>
    (await beside.send(new ListMultipartUploadsCommand({ Bucket: bucket }))).Uploads?.length ?? 0;

  beforeAll(async () => {
    const real = await freshBucket('faults');
    ({ bucket, beside } = real);
    await real.objects.close();
    proxy = await FaultProxy.start(s3Config(bucket).endpoint);
    objects = await openStore(bucket, { endpoint: proxy.url });
    hasty = await openStore(bucket, { endpoint: proxy.url }, TIMEOUT_MS);
  });
  afterEach(() => proxy.set({}));
  afterAll(async () => {
    await objects.close();
    await hasty.close();
    beside.destroy();
    await proxy.close();
  });

  it('stalls in the middle of a part: the write times out, and an abort leaves nothing', async () => {
    const key = fresh();
    const part = someBytes(hasty.partSize);
    const writer = await hasty.create(key, NEVER);
    await writer.write(part);
    proxy.set({ toTarget: { afterBytes: 1_000_000, how: 'stall' } });
    await expect(writer.write(part)).rejects.toMatchObject(TIMED_OUT);
    proxy.set({});
    await writer.abort();
    expect(await openUploads()).toBe(0);
    expect(await keysOf(objects, key)).toEqual([]);
  });

  it('resets every connection in the middle of a part: the write fails after a few tries', async () => {
    const key = fresh();
    const writer = await objects.create(key, NEVER);
    await writer.write(Buffer.alloc(objects.partSize));
    proxy.set({ toTarget: { afterBytes: 1_000_000, how: 'reset' } });
    await expect(writer.write(Buffer.alloc(objects.partSize))).rejects.toMatchObject({
      code: 'store_unavailable',
    });
    proxy.set({});
    await writer.abort();
    expect(await openUploads()).toBe(0);
  });

  it.each([
    ['CreateMultipartUpload', /^POST \S+\?uploads/],
    ['UploadPart', /^PUT \S+partNumber=/],
    ['CompleteMultipartUpload', /^POST \S+\?uploadId=/],
  ])('loses one answer to %s: the object is stored, once and whole', async (_, request) => {
    const key = fresh();
    const bytes = someBytes(objects.partSize + 1000);
    proxy.set({ loseAnswerTo: request, loseTimes: 1 });
    await store(objects, key, bytes);
    expect(proxy.lost).toBe(1);
    proxy.set({});
    expect((await fetchBytes(objects, key)).equals(bytes)).toBe(true);
    expect(await keysOf(objects, key)).toEqual([key]);
    await objects.removeUnfinished(Date.now() + 60_000); // the upload whose id was in a lost answer
  });

  it('loses every answer to CompleteMultipartUpload: the object is found, and the commit has worked (R3)', async () => {
    const key = fresh();
    const bytes = someBytes(objects.partSize + 1000);
    proxy.set({ loseAnswerTo: /^POST \S+\?uploadId=/ });
    await store(objects, key, bytes);
    expect(proxy.lost).toBeGreaterThan(1);
    expect((await fetchBytes(objects, key)).equals(bytes)).toBe(true);
    expect(await openUploads()).toBe(0);
  });

  it('loses every answer to Complete and to HEAD: the commit fails, and an abort removes the object it made', async () => {
    const key = fresh();
    const writer = await objects.create(key, NEVER);
    await writer.write(Buffer.alloc(objects.partSize));
    await writer.writeLast(Buffer.from('end'));
    proxy.set({ loseAnswerTo: /^(POST \S+\?uploadId=|HEAD )/ });
    await expect(writer.commit()).rejects.toMatchObject({ code: 'store_unavailable' });
    proxy.set({});
    expect((await objects.head(key))?.size).toBe(objects.partSize + 3);
    await writer.abort();
    expect(await objects.head(key)).toBeUndefined();
    expect(await openUploads()).toBe(0);
  });

  it('loses every answer to PutObject: the write fails, and an abort removes the object it made', async () => {
    const key = fresh();
    const writer = await objects.create(key, NEVER);
    proxy.set({ loseAnswerTo: /^PUT / });
    await expect(writer.writeLast(Buffer.from('small'))).rejects.toMatchObject({ code: 'store_unavailable' });
    proxy.set({});
    expect((await objects.head(key))?.size).toBe(5);
    await writer.abort();
    expect(await objects.head(key)).toBeUndefined();
  });

  it('loses every answer to CreateMultipartUpload: an abort finds the uploads by their key', async () => {
    const key = fresh();
    const writer = await objects.create(key, NEVER);
    proxy.set({ loseAnswerTo: /^POST \S+\?uploads/ });
    await expect(writer.write(Buffer.alloc(objects.partSize))).rejects.toMatchObject({
      code: 'store_unavailable',
    });
    proxy.set({});
    expect(await openUploads()).toBeGreaterThan(0);
    await writer.abort();
    expect(await openUploads()).toBe(0);
  });

  it('is down: everything fails, also the abort, and works again without a restart', async () => {
    const key = fresh();
    const writer = await objects.create(key, NEVER);
    await writer.write(Buffer.alloc(objects.partSize));
    await proxy.refuse();
    const steps = [
      () => writer.writeLast(Buffer.from('x')),
      () => writer.abort(),
      () => objects.get(key, { signal: NEVER }),
      () => objects.head(key),
      () => objects.remove(key),
      () => keysOf(objects, ''),
      () => objects.removeUnfinished(0),
      () => objects.check(),
    ];
    for (const step of steps) await expect(step()).rejects.toMatchObject({ code: 'store_unavailable' });
    await expect(objects.prepare()).rejects.toThrow(/faults.*127\.0\.0\.1.*cannot be reached: .*ECONNREFUSED.*Check/);
    await proxy.accept();
    await objects.check();
    await writer.abort();
    expect(await openUploads()).toBe(0);
    await store(objects, key, Buffer.from('again'));
    expect((await fetchBytes(objects, key)).toString()).toBe('again');
  });

  it.each(['stall', 'reset'] as const)(
    'breaks a body off in the middle (%s): the reader gets an error',
    async (how) => {
      const key = fresh();
      await store(objects, key, Buffer.alloc(3_000_000));
      const reader = how === 'stall' ? hasty : objects;
      proxy.set({ toClient: { afterBytes: 500_000, how } });
      const read = await reader.get(key, { signal: NEVER });
      if (read.kind !== 'found') throw new Error(read.kind);
      await expect(buffer(read.body)).rejects.toMatchObject(
        how === 'stall' ? TIMED_OUT : { code: 'store_unavailable' },
      );
    },
  );

  it.each(['stall', 'reset'] as const)(
    'breaks off an object that is read at once (%s): the read fails in time, and the next one works',
    async (how) => {
      const key = fresh();
      const bytes = someBytes(60_000);
      await store(objects, key, bytes);
      const reader = how === 'stall' ? hasty : objects;
      proxy.set({ toClient: { afterBytes: 30_000, how } });
      await expect(reader.getWhole(key, bytes.length, NEVER)).rejects.toMatchObject(
        how === 'stall' ? TIMED_OUT : { code: 'store_unavailable' },
      );
      proxy.set({});
      expect((await reader.getWhole(key, bytes.length, NEVER))?.equals(bytes)).toBe(true);
    },
  );

  it('has a reader that pauses for longer than the time-out: nothing is given up', async () => {
    const key = fresh();
    await store(objects, key, Buffer.alloc(8_000_000));
    const read = await hasty.get(key, { signal: NEVER });
    if (read.kind !== 'found') throw new Error(read.kind);
    let length = 0;
    for await (const chunk of read.body) {
      if (length === 0) await new Promise((resolve) => setTimeout(resolve, TIMEOUT_MS * 1.5));
      length += (chunk as Buffer).length;
    }
    expect(length).toBe(8_000_000);
  });

  it('is slow but there: nothing is lost', async () => {
    const key = fresh();
    const bytes = someBytes(objects.partSize + 5);
    proxy.set({ latencyMs: 20 });
    await store(objects, key, bytes);
    expect((await fetchBytes(objects, key)).equals(bytes)).toBe(true);
  });

  it('takes a part while the caller gives up: the write ends with the reason at once', async () => {
    const key = fresh();
    const controller = new AbortController();
    const writer = await objects.create(key, controller.signal);
    await writer.write(Buffer.alloc(objects.partSize));
    proxy.set({ toTarget: { afterBytes: 1_000_000, how: 'stall' } });
    const writing = writer.write(Buffer.alloc(objects.partSize));
    const reason = new Error('the client left');
    setTimeout(() => controller.abort(reason), 50);
    await expect(writing).rejects.toBe(reason);
    proxy.set({});
    await writer.abort();
    expect(await openUploads()).toBe(0);
  });
});

describe('s3 object store behind an endpoint that takes connections and never answers', () => {
  let server: Server;
  const sockets = new Set<Socket>();
  let objects: ObjectStore;

  beforeAll(async () => {
    server = createServer((socket) => sockets.add(socket)).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo;
    objects = await openStore('some-bucket', { endpoint: `http://127.0.0.1:${port}` }, 200);
  });
  afterAll(async () => {
    await objects.close();
    for (const socket of sockets) socket.destroy();
    server.close();
  });

  it('times out on every step, with all its retries inside the one deadline', async () => {
    const writer = await objects.create('f/x', NEVER);
    const steps = [
      () => writer.writeLast(Buffer.from('x')),
      () => writer.abort(),
      () => objects.get('f/x', { signal: NEVER }),
      () => objects.getWhole('f/x', 1, NEVER),
      () => objects.head('f/x'),
      () => objects.remove('f/x'),
      () => keysOf(objects, ''),
      () => objects.removeUnfinished(0),
      () => objects.check(),
    ];
    for (const step of steps) {
      await expect(step()).rejects.toMatchObject({ code: 'store_timeout', facts: { allowed: 200 } });
    }
    await expect(objects.prepare()).rejects.toThrow(/some-bucket.*did not answer within timeouts\.store = 200 ms/);
  });
});
