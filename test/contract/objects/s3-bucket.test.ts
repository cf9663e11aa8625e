import { readFile } from 'node:fs/promises';
import { inspect } from 'node:util';
import {
  DeleteBucketCommand,
  GetBucketLifecycleConfigurationCommand,
  PutBucketLifecycleConfigurationCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { settings } from '../../../adapters/objects/s3.js';
import type { ObjectStore } from '../../../gateway/ports/object-store.js';
import { freshName, s3Config } from '../../helpers/services.js';
import { fetchBytes, keysOf, store } from '../object-store.contract.js';
import { freshBucket, openStore, plainClient } from './s3-buckets.js';

const NEVER = new AbortController().signal;

describe('s3 bucket', () => {
  it('is created when it is missing, also by several replicas at once', async () => {
    const bucket = freshName('new');
    const replicas = await Promise.all([1, 2, 3].map(() => openStore(bucket)));
    await expect(replicas[0]?.check()).rejects.toMatchObject({ code: 'store_unavailable' });
    await Promise.all(replicas.map((objects) => objects.prepare()));
    for (const objects of replicas) {
      await objects.check();
      await objects.close();
    }
  });

  it('that is missing is an outage, not a missing object', async () => {
    const objects = await openStore(freshName('never'));
    await expect(objects.get('f/x', { signal: NEVER })).rejects.toMatchObject({ code: 'store_unavailable' });
    await expect(keysOf(objects, '')).rejects.toMatchObject({ code: 'store_unavailable' });
    await expect(store(objects, 'f/x', Buffer.from('x'))).rejects.toMatchObject({ code: 'store_unavailable' });
    await objects.close();
  });

  it('that is gone is one also for what asks about an object without reading it', async () => {
    const { bucket, objects, beside } = await freshBucket('gone');
    expect(await objects.head('f/one')).toBeUndefined();
    await beside.send(new DeleteBucketCommand({ Bucket: bucket }));
    await expect(objects.head('f/one')).rejects.toMatchObject({ code: 'store_unavailable', facts: { refused: true } });
    await objects.close();
    beside.destroy();
  });

  it('that cannot be used is named, with its endpoint and what to do', async () => {
    const bucket = freshName('denied');
    const objects = await openStore(bucket, { accessKeyId: 'nobody', secretAccessKey: 'not-the-secret' });
    const { endpoint } = s3Config(bucket);
    await expect(objects.prepare()).rejects.toThrow(
      `The bucket "${bucket}" at ${endpoint} cannot be reached: InvalidAccessKeyId, HTTP 403. Check objects.endpoint, objects.region, the credentials`,
    );
    await objects.close();
  });

  it('that is refused is so by the code of S3, which the answer to a HEAD lacks', async () => {
    const { bucket, objects } = await freshBucket('refused');
    const stranger = await openStore(bucket, { secretAccessKey: 'not-the-secret' });
    const refusal = { code: 'store_unavailable', cause: { name: 'SignatureDoesNotMatch' } };
    await expect(stranger.check()).rejects.toMatchObject(refusal);
    await expect(stranger.prepare()).rejects.toThrow('cannot be reached: SignatureDoesNotMatch, HTTP 403.');
    await stranger.close();
    await objects.close();
  });

  it('tells neither keys nor signatures when it refuses', async () => {
    const { bucket, objects } = await freshBucket('secrets');
    const stranger = await openStore(bucket, { secretAccessKey: 'not-the-secret' });
    const steps = [
      () => stranger.get('f/x', { signal: NEVER }),
      () => store(stranger, 'f/x', Buffer.from('x')),
      () => keysOf(stranger, ''),
    ];
    for (const step of steps) {
      const error: unknown = await step().catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: 'store_unavailable', cause: { name: 'SignatureDoesNotMatch' } });
      const everything = inspect(error, { depth: 10, showHidden: true });
      expect(everything).not.toMatch(/testaccesskey|not-the-secret|AWS4-HMAC|[0-9a-f]{64}/);
    }
    await stranger.close();
    await objects.close();
  });

  it('is listed to its end, over many pages', async () => {
    const { objects } = await freshBucket('pages');
    const keys = Array.from({ length: 1010 }, (_, n) => `f/f_${String(n).padStart(4, '0')}`);
    for (let at = 0; at < keys.length; at += 50) {
      await Promise.all(keys.slice(at, at + 50).map((key) => store(objects, key, Buffer.from('x'))));
    }
    expect(await keysOf(objects, 'f/')).toEqual(keys);
    await objects.close();
  }, 120_000);

  it('keeps its own objects apart from those under another prefix', async () => {
    const { bucket, objects } = await freshBucket('shared', { prefix: 'one/' });
    const other = await openStore(bucket, { prefix: 'two/' });
    await store(objects, 'f/x', Buffer.from('one'));
    await store(other, 'f/x', Buffer.from('two'));
    const writer = await other.create('f/y', NEVER);
    await writer.write(Buffer.alloc(other.partSize));
    expect(await objects.removeUnfinished(Date.now() + 60_000)).toBe(0);
    expect(await keysOf(objects, '')).toEqual(['f/x']);
    expect((await fetchBytes(objects, 'f/x')).toString()).toBe('one');
    await writer.abort();
    await other.close();
    await objects.close();
  });
});

describe('s3 lifecycle', () => {
  let bucket: string;
  let beside: S3Client;
  let objects: ObjectStore;
  const rules = async () =>
    (await beside.send(new GetBucketLifecycleConfigurationCommand({ Bucket: bucket }))).Rules ?? [];

  beforeAll(async () => {
    ({ bucket, objects } = await freshBucket('lifecycle'));
    beside = plainClient(bucket);
  });
  afterAll(async () => {
    await objects.close();
    beside.destroy();
  });

  it('is left alone by default', async () => {
    await expect(rules()).rejects.toMatchObject({ name: 'NoSuchLifecycleConfiguration' });
  });

  it('can be pasted from STORAGE.md', async () => {
    const storage = await readFile(new URL('../../../../STORAGE.md', import.meta.url), 'utf8');
    const LifecycleConfiguration = JSON.parse(/```json\n(.*?)```/s.exec(storage)?.[1] ?? '');
    await beside.send(new PutBucketLifecycleConfigurationCommand({ Bucket: bucket, LifecycleConfiguration }));
    expect(await rules()).toMatchObject([{ ID: 'wharf', AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 } }]);
  });

  it('removes unfinished uploads after a day, beside the rules the operator has', async () => {
    const theirs = { ID: 'theirs', Status: 'Enabled' as const, Filter: { Prefix: 'logs/' }, Expiration: { Days: 7 } };
    await beside.send(
      new PutBucketLifecycleConfigurationCommand({ Bucket: bucket, LifecycleConfiguration: { Rules: [theirs] } }),
    );
    for (const expireAfterDays of [30, undefined]) {
      const store = await openStore(bucket, { prefix: 'wharf/', lifecycle: true, expireAfterDays });
      await store.prepare();
      await store.close();
      const found = (await rules()).sort((a, b) => (a.ID ?? '').localeCompare(b.ID ?? ''));
      expect(found).toMatchObject([
        { ID: 'theirs', Expiration: { Days: 7 } },
        { ID: 'wharf', Status: 'Enabled', AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 } },
      ]);
      expect(found[1]?.Expiration?.Days).toBe(expireAfterDays);
      expect(found[1]?.Filter?.Prefix ?? found[1]?.Prefix).toBe('wharf/');
    }
  });
});

describe('s3 settings', () => {
  const problems = (value: object) =>
    settings.safeParse({ bucket: 'wharf', ...value }).error?.issues.map((issue) => issue.path.join('.')) ?? [];

  it('need no more than a bucket', () => {
    expect(problems({})).toEqual([]);
    expect(settings.safeParse({}).error?.issues.map((issue) => issue.path)).toEqual([['bucket']]);
  });

  it.each<[string, object, string]>([
    ['a bucket name that no store takes', { bucket: 'A_b' }, 'bucket'],
    ['an endpoint without a scheme', { endpoint: 's3:9000' }, 'endpoint'],
    ['a public endpoint that is no web address', { publicEndpoint: 'ftp://x' }, 'publicEndpoint'],
    ['half of the credentials', { accessKeyId: 'a' }, 'secretAccessKey'],
    ['a prefix that does not end with a slash', { prefix: 'wharf' }, 'prefix'],
    ['a prefix from the root', { prefix: '/wharf/' }, 'prefix'],
    ['an expiry without a rule', { expireAfterDays: 3 }, 'expireAfterDays'],
    ['an unknown key', { buckets: 'x' }, ''],
  ])('refuse %s', (_, value, path) => {
    expect(problems(value)).toEqual([path]);
  });
});
