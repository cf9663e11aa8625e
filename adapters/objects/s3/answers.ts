import { pipeline, Readable, Transform } from 'node:stream';
import type { S3Client } from '@aws-sdk/client-s3';
import { NotS3 } from './refusals.js';

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
 * What shows that a success is the answer of S3, and not of something before it, such as a proxy's page: the ETag. What is stored
 * is answered for without a body, so the ETag of one is of a page that a web server keeps as a file. A few stores know no ETag of
 * what they give back: the id that S3 gives each request does as well, and counts as an empty ETag.
 */
export function markOf(method: string | undefined, headers: Readonly<Record<string, unknown>>): string | undefined {
  const { etag } = headers;
  if (typeof etag === 'string')
    return method === 'PUT' && Number(headers['content-length'] ?? 0) > 0 ? undefined : etag;
  return method === 'PUT' || headers['x-amz-request-id'] === undefined ? undefined : '';
}

const METHODS: ReadonlyMap<string, string> = new Map([
  ['GetObjectCommand', 'GET'],
  ['HeadObjectCommand', 'HEAD'],
  ['PutObjectCommand', 'PUT'],
  ['UploadPartCommand', 'PUT'],
]);

/**
 * The SDK reads an answer to its end before it understands it, and parses it as a whole: a megabyte of attributes takes it
 * a second. One that is longer than any answer of S3 may be is given up: without this, a store, or what stands before it,
 * could fill the memory and hold up every call.
 */
export function boundAnswers(client: S3Client): void {
  client.middlewareStack.add(
    (next, context) => async (args) => {
      const result = await next(args);
      const response = result.response as {
        statusCode?: number;
        headers: Record<string, string>;
        body?: unknown;
      };
      const { commandName = '' } = context;
      const isSuccess = (response.statusCode ?? 0) < 300;
      const method = METHODS.get(commandName);
      if (isSuccess && commandName === 'HeadBucketCommand') expectS3(response.headers);
      if (isSuccess && method !== undefined) {
        const mark = markOf(method, response.headers);
        if (mark === undefined) delete response.headers.etag;
        else response.headers.etag = mark;
      }
      const isObject = isSuccess && commandName === 'GetObjectCommand';
      const most = (isSuccess && LISTS.get(commandName)) || LONGEST;
      if (!isObject && response.body instanceof Readable) response.body = bounded(response.body, most);
      return result;
    },
    // behind all that reads the answer
    { step: 'deserialize', name: 'boundAnswers', priority: 'low' },
  );
}

/**
 * A web server answers each path with its page, and the bucket would seem to be there until the first file is lost. An answer
 * without a body may have that type and be a store's: some frameworks give it to each.
 */
function expectS3(headers: Readonly<Record<string, string>>): void {
  const { 'content-type': type = '', 'content-length': length = '0' } = headers;
  const isPage = Number(length) > 0 || headers['transfer-encoding'] !== undefined;
  if (isPage && /^text\/html\b/i.test(type)) throw new NotS3('text/html');
}

/** The headers by which a store asks for a pause: of HTTP, and of S3's own. */
const PAUSES = ['retry-after', 'x-amz-retry-after'] as const;

/** The SDK waits at most so long before an attempt because a store asks for it (`Retry-After`). */
const LONGEST_PAUSE_MS = 5000;

/**
 * Leaves out the pauses that a store asks for, where those before all attempts take what a step may take: the step ended with
 * a store that "did not answer", although it has refused each attempt at once. The SDK's own pauses remain.
 * @param attempts of each step
 * @param stepMs what they may take together
 */
export function passOverLongPauses(client: S3Client, attempts: number, stepMs: number): void {
  if (stepMs > attempts * LONGEST_PAUSE_MS) return;
  client.middlewareStack.add(
    (next) => async (args) => {
      const result = await next(args);
      const { headers } = result.response as { headers?: Record<string, string> };
      if (headers) for (const name of PAUSES) delete headers[name];
      return result;
    },
    { step: 'deserialize', name: 'passOverLongPauses', priority: 'low' },
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
