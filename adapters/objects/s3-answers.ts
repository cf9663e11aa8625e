import { pipeline, Readable, Transform } from 'node:stream';
import type { S3Client } from '@aws-sdk/client-s3';

/**
 * Bytes of a page: 250 keys of Wharf's, of at most 300 characters, with 750 about each. The worst that 256 KiB can hold takes
 * the SDK 200 ms, and 8 MiB take it ten seconds and 600 MB.
 */
const LONGEST_PAGE = 256 * 1024;

/** A bucket has at most 1000 rules. They are read at the start alone, while nothing else has to go on. */
const LONGEST_RULES = 8 * 1024 * 1024;

const LISTS: ReadonlyMap<string, number> = new Map([
  ['ListObjectsV2Command', LONGEST_PAGE],
  ['ListMultipartUploadsCommand', LONGEST_PAGE],
  ['ListPartsCommand', LONGEST_PAGE],
  ['GetBucketLifecycleConfigurationCommand', LONGEST_RULES],
]);

/** Of any other answer, and of every refusal: S3's are shorter than 4 KiB, and a proxy's pages are not understood. */
const LONGEST = 64 * 1024;

/**
 * The SDK reads an answer to its end before it understands it, and parses it as a whole: a megabyte of attributes takes it
 * a second. One that is longer than any answer of S3 may be is given up: without this, a store, or what stands before it,
 * could fill the memory and hold up every call.
 */
export function boundAnswers(client: S3Client): void {
  client.middlewareStack.add(
    (next, context) => async (args) => {
      const result = await next(args);
      const response = result.response as { statusCode?: number; body?: unknown };
      const { commandName = '' } = context;
      const isSuccess = (response.statusCode ?? 0) < 300;
      const isObject = isSuccess && commandName === 'GetObjectCommand';
      const most = (isSuccess && LISTS.get(commandName)) || LONGEST;
      if (!isObject && response.body instanceof Readable) response.body = bounded(response.body, most);
      return result;
    },
    // behind all that reads the answer
    { step: 'deserialize', name: 'boundAnswers', priority: 'low' },
  );
}

function bounded(body: Readable, most: number): Readable {
  let left = most;
  const limit = new Transform({
    transform(chunk: Buffer, _, done) {
      left -= chunk.length;
      if (left < 0) done(new Error(`The store's answer is longer than ${most} bytes.`));
      else done(null, chunk);
    },
  });
  return pipeline(body, limit, () => undefined);
}
