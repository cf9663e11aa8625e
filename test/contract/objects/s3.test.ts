import { describeObjectStore } from '../object-store.contract.js';
import { describeResumableWrites } from '../object-store-resumable.contract.js';
import { freshBucket } from './s3-buckets.js';

describeObjectStore('s3', async () => (await freshBucket('contract')).objects);

describeObjectStore('s3 below a prefix', async () => (await freshBucket('prefix', { prefix: 'a/b.c/' })).objects);

describeObjectStore(
  's3 with signed payloads',
  async () => (await freshBucket('signed', { signPayload: true })).objects,
);

describeResumableWrites(
  's3 below a prefix',
  async () => (await freshBucket('resumable', { prefix: 'a/b.c/', signPayload: true })).objects,
);
