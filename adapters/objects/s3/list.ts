import type { _Object as ListedObject, ListMultipartUploadsCommandOutput } from '@aws-sdk/client-s3';
import { AdvisedError } from '../../../gateway/errors/system.js';
import { GatewayError } from '../../../gateway/errors.js';
import type { Connection } from './connection.js';
import { isCode } from './errors.js';

/** The SDK parses a page as a whole: one of 1000 keys, which is as many as S3 gives, holds up every call for 80 ms. */
const PAGE_KEYS = 250;

/** An entry of an unfinished upload is longer: it names who has begun it. */
const PAGE_UPLOADS = 100;

/** A store may leave pages empty where keys were removed. One that does it for ever would be asked for ever. */
const MOST_EMPTY_PAGES = 200;

const IN_ORDER =
  'Take a store that lists keys in the order of their bytes, as S3 does but for directory buckets: without it nothing is swept, and ' +
  'wharf files lists nothing.';

interface KeysToList {
  /** What the keys begin with. */
  prefix: string;
  /** Only keys behind it. */
  after?: string;
  /** Most keys of a page. */
  most?: number;
}

/**
 * The objects below a prefix, in the order of their keys, in which every S3 but directory buckets lists them.
 * @throws GatewayError `store_unavailable` for a list that cannot be right: what is read from it decides what is removed
 */
export async function* listObjects(
  s3: Connection,
  { prefix, after, most = PAGE_KEYS }: KeysToList,
  signal?: AbortSignal,
): AsyncGenerator<ListedObject & { Key: string }> {
  const MaxKeys = Math.min(most, PAGE_KEYS);
  let last = after ?? '';
  let ContinuationToken: string | undefined;
  let empty = 0;
  do {
    const command = new s3.sdk.ListObjectsV2Command({
      Bucket: s3.bucket,
      Prefix: prefix,
      MaxKeys,
      ...(ContinuationToken === undefined ? { StartAfter: after } : { ContinuationToken }),
    });
    const page = await s3.run((abortSignal) => s3.client.send(command, { abortSignal }), signal);
    const { Contents = [] } = page;
    for (const { Key = '', ...about } of Contents) {
      expectPrefix(Key, prefix);
      if (!isBehind(Key, last)) throw wrong('lists keys again, or in another order than that of their bytes', IN_ORDER);
      last = Key;
      yield { Key, ...about };
    }
    empty = Contents.length === 0 ? empty + 1 : 0;
    if (empty > MOST_EMPTY_PAGES)
      throw wrong(`lists nothing on ${MOST_EMPTY_PAGES} pages, and says that there is more`);
    ContinuationToken = nextOf(
      { isTruncated: page.IsTruncated, isNamed: page.Name === s3.bucket, isFull: Contents.length >= MaxKeys },
      page.NextContinuationToken,
      ContinuationToken,
    );
  } while (ContinuationToken !== undefined);
}

/** Ends the multipart uploads below a prefix that were begun before a time. @returns how many */
export async function abortUploads(
  s3: Connection,
  { prefix, olderThan }: { prefix: string; olderThan: number },
  signal?: AbortSignal,
): Promise<number> {
  let removed = 0;
  let page: ListMultipartUploadsCommandOutput | undefined;
  let KeyMarker: string | undefined;
  /** Pages that have brought no other key. */
  let still = 0;
  do {
    const command = new s3.sdk.ListMultipartUploadsCommand({
      Bucket: s3.bucket,
      Prefix: prefix,
      KeyMarker,
      UploadIdMarker: page?.NextUploadIdMarker,
      MaxUploads: PAGE_UPLOADS,
    });
    const before = page;
    page = await s3.run((abortSignal) => s3.client.send(command, { abortSignal }), signal);
    const { Uploads = [] } = page;
    for (const { Key = '', UploadId, Initiated } of Uploads) {
      expectPrefix(Key, prefix);
      if (Initiated === undefined || Initiated.getTime() >= olderThan) continue;
      const abort = new s3.sdk.AbortMultipartUploadCommand({ Bucket: s3.bucket, Key, UploadId });
      removed += await s3.run(async (abortSignal) => {
        try {
          await s3.client.send(abort, { abortSignal });
          return 1;
        } catch (error) {
          if (isCode(error, 'NoSuchUpload')) return 0; // finished, or removed by another replica
          throw error;
        }
      }, signal);
    }
    const isSame =
      before?.NextKeyMarker === page.NextKeyMarker && before?.NextUploadIdMarker === page.NextUploadIdMarker;
    const next = nextOf(
      { isTruncated: page.IsTruncated, isNamed: page.Bucket === s3.bucket, isFull: Uploads.length >= PAGE_UPLOADS },
      page.NextKeyMarker,
      isSame ? page.NextKeyMarker : undefined,
    );
    still = next !== undefined && KeyMarker !== undefined && !isBehind(next, KeyMarker) ? still + 1 : 0;
    if (still > MOST_EMPTY_PAGES) throw wrong('lists the uploads of one key without an end');
    KeyMarker = next;
  } while (KeyMarker !== undefined);
  return removed;
}

/** What a page says of itself. */
interface PageEnd {
  isTruncated: boolean | undefined;
  /** It names the bucket that was asked for. */
  isNamed: boolean;
  /** It has as many entries as were asked for. */
  isFull: boolean;
}

/**
 * Where the next page begins; undefined behind the last one. S3 always says whether there is more, and a few stores only if there
 * is. An answer that says neither this nor of what it is the list is not a list, but a proxy's page for example.
 */
function nextOf({ isTruncated, isNamed, isFull }: PageEnd, next: string | undefined, before: string | undefined) {
  if (isTruncated === undefined && !isNamed) throw wrong('answers with something that is not a list');
  if (!(isTruncated ?? (isFull || Boolean(next)))) return undefined;
  if (next === undefined || next === '') throw wrong('says that there is more, and not where');
  if (next === before) throw wrong('lists the same page again');
  return next;
}

function expectPrefix(key: string, prefix: string): void {
  if (!key.startsWith(prefix)) throw wrong('lists keys that it was not asked for');
}

/** In the order of S3, which is that of the bytes in UTF-8; keys of Wharf's own are ASCII. */
function isBehind(key: string, before: string): boolean {
  return key > before || Buffer.compare(Buffer.from(key), Buffer.from(before)) > 0;
}

function wrong(what: string, todo?: string): GatewayError {
  const text = `The store ${what}.`;
  return new GatewayError('store_unavailable', {}, todo === undefined ? new Error(text) : new AdvisedError(text, todo));
}
