import { Readable } from 'node:stream';
import { GatewayError } from '../../../gateway/errors.js';
import type { ByteRange, ObjectStat } from '../../../gateway/ports/object-store.js';
import type { Answer } from '../../http/answer.js';
import { markOf } from './answers.js';
import { S3Body } from './body.js';
import type { Connection } from './connection.js';
import { isCode, isMissing, statusOf } from './errors.js';

export type About = Omit<ObjectStat, 'key'>;

/** The body of an answer, of Wharf's own request or the SDK's. */
interface Content {
  /** All of it, where it came with the head. */
  readonly whole?: Buffer | undefined;
  readonly body: Readable;
}

/** Which bytes of a body are meant. */
interface Piece {
  skip: number;
  length: number;
  /** The body has others too: the store has sent more than it was asked for. */
  isCut: boolean;
}

interface Found {
  about: About;
  content: Content;
  piece: Piece;
}

/** What the head of an answer says of its body. */
interface Head {
  status: number | undefined;
  length: number | undefined;
  range: string | undefined;
  etag: string | undefined;
  coding: string | undefined;
}

/** An object or a range of it, without its key. */
export async function readObject(
  s3: Connection,
  key: string,
  range: ByteRange | undefined,
  signal: AbortSignal,
): Promise<{ kind: 'missing' } | { kind: 'range-not-satisfiable' } | { kind: 'found'; about: About; body: Readable }> {
  const found = await s3.run((abortSignal) => find(s3, key, range, abortSignal), signal);
  if (typeof found === 'string') return { kind: found };
  const { about, content, piece } = found;
  const source = piece.isCut ? Readable.from(cutOut(content.body, piece), { highWaterMark: 1 }) : content.body;
  return { kind: 'found', about, body: new S3Body(source, piece.length, s3.timeoutMs, signal) };
}

async function find(
  s3: Connection,
  key: string,
  range: ByteRange | undefined,
  abortSignal: AbortSignal,
): Promise<Found | 'missing' | 'range-not-satisfiable'> {
  const Range = range && `bytes=${range.start}-${range.end}`;
  const headers = Range === undefined ? {} : { range: Range };
  const signed = await s3.signed.send({ method: 'GET', key, headers }, abortSignal);
  if (signed) return foundIn(headOf(signed), range, signed, modifiedAt(signed));
  try {
    const command = new s3.sdk.GetObjectCommand({ Bucket: s3.bucket, Key: key, Range });
    const answer = await s3.client.send(command, { abortSignal });
    const { Body, ContentLength, ContentRange, ContentEncoding, ETag, LastModified, $metadata } = answer;
    if (!(Body instanceof Readable))
      throw new GatewayError('store_unavailable', {}, new Error('GetObject without a body.'));
    const about = { length: ContentLength, range: ContentRange, etag: ETag, coding: ContentEncoding };
    const head = { status: $metadata.httpStatusCode, ...about };
    return foundIn(head, range, { body: Body }, LastModified?.getTime() ?? 0);
  } catch (error) {
    if (isMissing(error)) return 'missing';
    if (isCode(error, 'InvalidRange') || statusOf(error) === 416) return 'range-not-satisfiable';
    throw error;
  }
}

/**
 * "A server MAY ignore the Range header field" (RFC 9110 §14.2), and then sends all of the object: what was asked for is
 * cut out of it. More bytes than were announced to a client would be another answer on its connection.
 */
function foundIn(
  head: Head,
  range: ByteRange | undefined,
  content: Content,
  modified: number,
): Found | 'range-not-satisfiable' {
  const part = head.status === 206 ? partOf(head.range) : undefined;
  const size = part?.size ?? head.length ?? 0;
  const fault = faultOf(head);
  if (fault !== undefined) {
    content.body.destroy();
    throw new GatewayError('store_unavailable', {}, new Error(`The store has answered ${fault}.`));
  }
  const about = { size, modifiedAt: modified, ...marked(head) };
  const asked = range ?? { start: 0, end: Number.POSITIVE_INFINITY };
  const end = Math.min(asked.end, size - 1);
  const length = Math.max(0, end - asked.start + 1);
  if (head.status === 206) {
    if (range && part?.start === asked.start && part.end === end) {
      return { about, content, piece: { skip: 0, length, isCut: false } };
    }
    content.body.destroy();
    throw new GatewayError('store_unavailable', {}, new Error('The store sent another range than it was asked for.'));
  }
  if (range && asked.start >= size) {
    content.body.destroy();
    return 'range-not-satisfiable';
  }
  return { about, content, piece: { skip: asked.start, length, isCut: length < size } };
}

/**
 * Why an answer is not one of S3 about the bytes that were stored. What stands between may answer with a page of its own, and
 * bytes in another coding are other bytes, even where they are as many.
 */
function faultOf({ status, length, etag, coding = '' }: Head): string | undefined {
  if (etag === undefined) return 'without an ETag';
  if (coding !== '' && coding !== 'identity') return 'with bytes in another coding';
  return length === undefined && status !== 206 ? 'without a length' : undefined;
}

/** `Content-Range` of a part; undefined unless it names all three numbers. */
function partOf(range = ''): (ByteRange & { size: number }) | undefined {
  const [, start, end, size] = /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15})$/.exec(range) ?? [];
  return size === undefined ? undefined : { start: Number(start), end: Number(end), size: Number(size) };
}

async function* cutOut(body: Readable, { skip, length }: Piece): AsyncGenerator<Buffer> {
  let before = skip;
  let left = length;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    const meant = chunk.subarray(Math.min(before, chunk.length)).subarray(0, left);
    before = Math.max(0, before - chunk.length);
    left -= meant.length;
    if (meant.length > 0) yield meant;
    if (left === 0) return;
  }
}

/**
 * All of a short object, within the time of one step: without a body that is watched on its own.
 * @returns undefined when the object is missing or has another size
 */
export function readWhole(s3: Connection, key: string, size: number, signal: AbortSignal): Promise<Buffer | undefined> {
  return s3.run(async (abortSignal) => {
    const found = await find(s3, key, undefined, abortSignal);
    if (typeof found === 'string') return undefined;
    const { about, content } = found;
    if (about.size === size && content.whole?.length === size) return content.whole;
    if (about.size === size) return bytesOf(content.body, size);
    content.body.destroy();
    return undefined;
  }, signal);
}

/** The body as one piece. It fails when it is not as long as announced: what is missing would be zeros. */
function bytesOf(body: Readable, size: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    // a connection may be lost before anything listens
    if (body.destroyed) return reject(body.errored ?? new Error('The connection ended early.'));
    const pieces: Buffer[] = [];
    let left = size;
    body.on('data', (piece: Buffer) => {
      left -= piece.length;
      if (left >= 0) pieces.push(piece);
      else body.destroy(new Error('The object is longer than the store announced.'));
    });
    body.on('error', reject);
    body.on('end', () => {
      if (left === 0) resolve(Buffer.concat(pieces, size));
      else reject(new Error(`The object ended ${left} bytes early.`));
    });
    // comes last, and says nothing new of a body that has ended
    body.on('close', () => reject(new Error('The connection ended early.')));
  });
}

/** Size and age of an object; undefined when it does not exist. */
export async function statObject(s3: Connection, key: string): Promise<About | undefined> {
  return s3.run((abortSignal) => look(s3, key, abortSignal));
}

/** Looks for an object within another step. */
export async function look(s3: Connection, key: string, abortSignal: AbortSignal): Promise<About | undefined> {
  const signed = await s3.signed.send({ method: 'HEAD', key }, abortSignal);
  if (signed) return aboutIn(headOf(signed), modifiedAt(signed));
  try {
    const command = new s3.sdk.HeadObjectCommand({ Bucket: s3.bucket, Key: key });
    const answer = await s3.client.send(command, { abortSignal });
    const { ContentLength: length, ContentEncoding: coding, ETag: etag, LastModified, $metadata } = answer;
    const head = { status: $metadata.httpStatusCode, length, etag, coding, range: undefined };
    return aboutIn(head, LastModified?.getTime() ?? 0);
  } catch (error) {
    if (!isMissing(error)) throw error;
    await expectBucket(s3, abortSignal);
    return undefined;
  }
}

/**
 * The answer to a HEAD has no code that tells a missing bucket from a missing object: each file would count as removed, and each
 * link answer 410. A store that refuses to say has a bucket.
 */
async function expectBucket({ sdk, client, bucket: Bucket }: Connection, abortSignal: AbortSignal): Promise<void> {
  await client.send(new sdk.HeadBucketCommand({ Bucket }), { abortSignal }).catch((error: unknown) => {
    if (statusOf(error) === 404) throw error;
  });
}

function headOf(answer: Answer): Head {
  const length = answer.header('content-length');
  return {
    status: answer.statusCode,
    length: length === undefined ? undefined : Number(length),
    range: answer.header('content-range'),
    etag: markOf('GET', answer.headers),
    coding: answer.header('content-encoding'),
  };
}

function aboutIn(head: Head, modified: number): About {
  const fault = faultOf(head);
  if (fault !== undefined)
    throw new GatewayError('store_unavailable', {}, new Error(`The store has answered ${fault}.`));
  return { size: head.length ?? 0, modifiedAt: modified, ...marked(head) };
}

function marked({ etag }: Head): { mark?: string } {
  const mark = asMark(etag);
  return mark === undefined ? {} : { mark };
}

/** An ETag as an object's mark: without what a proxy may add or take away, and what S3 itself writes only sometimes. */
export function asMark(etag: string | undefined): string | undefined {
  const [, mark] = /^(?:W\/)?"?([^"]{1,100})"?$/.exec(etag ?? '') ?? [];
  return mark;
}

function modifiedAt(answer: Answer): number {
  const time = Date.parse(answer.header('last-modified') ?? '');
  return Number.isNaN(time) ? 0 : time;
}
