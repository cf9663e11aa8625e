import {
  AbortMultipartUploadCommand,
  DeleteBucketCommand,
  DeleteObjectCommand,
  ListMultipartUploadsCommand,
  paginateListObjectsV2,
  S3Client,
} from '@aws-sdk/client-s3';
import { afterAll } from '@jest/globals';
import type { z } from 'zod';
import { create, settings } from '../../../adapters/objects/s3.js';
import type { ObjectStore } from '../../../gateway/ports/object-store.js';
import { freshName, s3Config } from '../../helpers/services.js';

const STORE_TIMEOUT_MS = 20_000;

type S3Settings = Partial<z.input<typeof settings>>;

const opened = new Set<string>();

// The tests' server keeps everything in memory and outlives the run.
afterAll(async () => {
  for (const bucket of opened) await dropBucket(bucket);
}, 120_000);

/** An S3 store over the tests' server. */
export function openStore(bucket: string, extra: S3Settings = {}, store = STORE_TIMEOUT_MS): Promise<ObjectStore> {
  opened.add(bucket);
  return create(settings.parse({ ...s3Config(bucket), ...extra }), { timeouts: { store } });
}

/** A store with a bucket of its own, and a plain client to look into that bucket from beside. */
export async function freshBucket(
  what: string,
  extra: S3Settings = {},
): Promise<{ bucket: string; objects: ObjectStore; beside: S3Client }> {
  const bucket = freshName(what);
  const objects = await openStore(bucket, extra);
  await objects.prepare();
  return { bucket, objects, beside: plainClient(bucket) };
}

/** The SDK's client as any program would use it. */
export function plainClient(bucket: string): S3Client {
  const { region, endpoint, forcePathStyle, accessKeyId, secretAccessKey } = s3Config(bucket);
  return new S3Client({ region, endpoint, forcePathStyle, credentials: { accessKeyId, secretAccessKey } });
}

async function dropBucket(bucket: string): Promise<void> {
  const client = plainClient(bucket);
  try {
    for await (const { Contents = [] } of paginateListObjectsV2({ client, pageSize: 50 }, { Bucket: bucket })) {
      await Promise.all(Contents.map(({ Key }) => client.send(new DeleteObjectCommand({ Bucket: bucket, Key }))));
    }
    const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket: bucket }));
    for (const { Key, UploadId } of Uploads) {
      await client.send(new AbortMultipartUploadCommand({ Bucket: bucket, Key, UploadId }));
    }
    await client.send(new DeleteBucketCommand({ Bucket: bucket }));
  } catch (error) {
    if ((error as Error).name !== 'NoSuchBucket') throw error;
  } finally {
    client.destroy();
  }
}
