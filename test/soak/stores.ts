import { DeleteBucketCommand, DeleteObjectCommand, paginateListObjectsV2, S3Client } from '@aws-sdk/client-s3';
import { Redis } from 'ioredis';
import { freshName, redisUrl, s3Config } from '../helpers/services.js';

/** A bucket and a key prefix of a soak's own, in the real S3 and Redis that the tests use. */
interface SoakStores {
  config: Record<string, unknown>;
  /** Removes everything: the services keep it in memory, and outlive the soak. */
  drop(): Promise<void>;
}

export function soakStores(retention: string): SoakStores {
  const bucket = freshName('soak');
  const keyPrefix = `${bucket}:`;
  const s3 = s3Config(bucket);
  return {
    config: {
      objects: { use: 's3', ...s3 },
      state: { use: 'redis', url: redisUrl(), keyPrefix, maxKeys: 100_000 },
      secret: 'a soak lasts ten minutes, and this secret no longer',
      retention,
    },
    async drop() {
      await dropBucket(s3);
      await dropKeys(keyPrefix);
    },
  };
}

async function dropBucket(s3: ReturnType<typeof s3Config>): Promise<void> {
  const { bucket: Bucket, accessKeyId, secretAccessKey, ...rest } = s3;
  const client = new S3Client({ ...rest, credentials: { accessKeyId, secretAccessKey } });
  try {
    for await (const { Contents = [] } of paginateListObjectsV2({ client }, { Bucket })) {
      await Promise.all(Contents.map(({ Key }) => client.send(new DeleteObjectCommand({ Bucket, Key }))));
    }
    await client.send(new DeleteBucketCommand({ Bucket }));
  } finally {
    client.destroy();
  }
}

async function dropKeys(keyPrefix: string): Promise<void> {
  const redis = new Redis(redisUrl());
  try {
    for await (const keys of redis.scanStream({ match: `${keyPrefix}*`, count: 1000 })) {
      if ((keys as string[]).length > 0) await redis.unlink(keys as string[]);
    }
  } finally {
    redis.disconnect();
  }
}
