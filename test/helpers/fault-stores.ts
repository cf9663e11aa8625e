import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DeleteObjectCommand, ListMultipartUploadsCommand, ListObjectsV2Command } from '@aws-sdk/client-s3';
import { plainClient } from '../contract/objects/s3-buckets.js';
import { freshName, redisUrl, s3Config } from './services.js';

/** An object store and a state store for a gateway, and what a look at the objects from beside shows. */
export interface FaultStores {
  /** `objects` and `state` of the config. */
  config: Record<string, unknown>;
  /** Keys of objects that can be read. */
  objects(): Promise<string[]>;
  /** Writes that have been begun and not ended: temporary files, multipart uploads. */
  unfinished(): Promise<number>;
  close(): Promise<void>;
}

export const SECRET = 'the tests of this repository share this secret';

/** @param folder kept by its owner, where given */
export async function filesystemStores(folder?: string): Promise<FaultStores> {
  const path = folder ?? (await mkdtemp(join(tmpdir(), 'wharf-fault-')));
  const files = async (part: string) => {
    const entries = await readdir(join(path, part), { recursive: true, withFileTypes: true }).catch(() => []);
    return entries.filter((entry) => entry.isFile()).map((entry) => entry.name);
  };
  return {
    config: { objects: { use: 'filesystem', path }, state: { use: 'memory' } },
    objects: () => files('objects'),
    unfinished: async () => (await files('tmp')).length,
    close: () => (folder === undefined ? rm(path, { recursive: true, force: true }) : Promise.resolve()),
  };
}

/** @param endpoint where the gateway finds S3, such as a proxy's URL; the look from beside goes past it */
export function s3Stores(endpoint?: string): FaultStores {
  const bucket = freshName('fault');
  const client = plainClient(bucket);
  const list = async () => {
    const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: bucket }));
    return Contents.map(({ Key = '' }) => Key);
  };
  return {
    config: {
      objects: { use: 's3', ...s3Config(bucket), ...(endpoint === undefined ? {} : { endpoint }) },
      state: { use: 'redis', url: redisUrl(), keyPrefix: `${bucket}:` },
      secret: SECRET,
    },
    objects: list,
    unfinished: async () =>
      (await client.send(new ListMultipartUploadsCommand({ Bucket: bucket }))).Uploads?.length ?? 0,
    close: async () => {
      // the tests' server keeps everything in memory and outlives the run
      for (const Key of await list()) await client.send(new DeleteObjectCommand({ Bucket: bucket, Key }));
      client.destroy();
    },
  };
}
