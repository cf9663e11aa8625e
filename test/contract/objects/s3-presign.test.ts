import { request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ObjectStore, PresignOptions } from '../../../gateway/ports/object-store.js';
import { FaultProxy } from '../../helpers/fault-proxy.js';
import { s3Config } from '../../helpers/services.js';
import { until } from '../../helpers/wait.js';
import { store } from '../object-store.contract.js';
import { freshBucket, openStore } from './s3-buckets.js';

const OPTIONS: PresignOptions = {
  // longer than a test may take
  ttlSeconds: 600,
  contentType: 'image/png',
  contentDisposition: `attachment; filename="a b.png"; filename*=UTF-8''%C3%BC%20b.png`,
};

/** A GET as a browser would make it: without any credentials. */
function get(url: string, headers: Record<string, string> = {}) {
  return new Promise<{ status: number; headers: Record<string, unknown>; body: Buffer }>((resolve, reject) => {
    const sent = request(url, { headers, agent: false }, async (answer) => {
      resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: await buffer(answer) });
    });
    sent.on('error', reject);
    sent.end();
  });
}

describe('s3 presigned links', () => {
  let bucket: string;
  let objects: ObjectStore;
  let url: string;
  const presign = (extra: Partial<PresignOptions> = {}, from = objects) =>
    from.presign?.('f/f_one', { ...OPTIONS, ...extra }) as Promise<string>;

  beforeAll(async () => {
    ({ bucket, objects } = await freshBucket('presign', { prefix: 'wharf/' }));
    await store(objects, 'f/f_one', Buffer.from('0123456789'));
    url = await presign();
  });
  afterAll(async () => {
    await objects.close();
  });

  it('give the bytes with the type and the disposition they were made with', async () => {
    const answer = await get(url);
    expect(answer.status).toBe(200);
    expect(answer.body.toString()).toBe('0123456789');
    expect(answer.headers['content-type']).toBe('image/png');
    expect(answer.headers['content-disposition']).toBe(OPTIONS.contentDisposition);
  });

  it('give ranges', async () => {
    const answer = await get(url, { range: 'bytes=2-4' });
    expect([answer.status, answer.body.toString()]).toEqual([206, '234']);
    expect((await get(url, { range: 'bytes=20-' })).status).toBe(416);
  });

  it.each<[string, (link: string) => string]>([
    ['another key', (link) => link.replace('f_one', 'f_two')],
    ['another type', (link) => link.replace('image%2Fpng', 'text%2Fhtml')],
    ['another disposition', (link) => link.replace('attachment', 'inline')],
    ['a longer life', (link) => link.replace('X-Amz-Expires=600', 'X-Amz-Expires=6000')],
    [
      'another signature',
      (link) =>
        link.replace(/X-Amz-Signature=./, (m) => (m.endsWith('0') ? `${m.slice(0, -1)}1` : `${m.slice(0, -1)}0`)),
    ],
    ['no signature', (link) => link.replace(/\?.*/, '')],
  ])('are refused with %s (G18)', async (_, alter) => {
    expect(alter(url)).not.toBe(url);
    expect((await get(alter(url))).status).toBe(403);
  });

  it('end with their time to live', async () => {
    const [short, long] = [await presign({ ttlSeconds: 1 }), await presign()];
    await until(async () => (await get(short)).status === 403);
    // it is the time that ended it: one made with it goes on
    expect((await get(long)).status).toBe(200);
  });

  it('live up to seven days', async () => {
    expect((await get(await presign({ ttlSeconds: 604_800 }))).status).toBe(200);
  });

  it('are made for the public endpoint, and work there', async () => {
    const proxy = await FaultProxy.start(s3Config(bucket).endpoint);
    const behind = await openStore(bucket, { prefix: 'wharf/', publicEndpoint: proxy.url });
    const link = await presign({}, behind);
    expect(link.startsWith(`${proxy.url}/${bucket}/wharf/f/f_one?`)).toBe(true);
    expect((await get(link)).body.toString()).toBe('0123456789');
    // The same path on the other address is signed for another host.
    expect((await get(link.replace(proxy.url, s3Config(bucket).endpoint))).status).toBe(403);
    await behind.close();
    await proxy.close();
  });

  it('are made without asking the store', async () => {
    const nowhere = await openStore(bucket, { endpoint: 'http://127.0.0.1:1' });
    expect(await presign({}, nowhere)).toMatch(/^http:\/\/127\.0\.0\.1:1\/.*X-Amz-Signature=[0-9a-f]{64}/);
    await nowhere.close();
  });
});
