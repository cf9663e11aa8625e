import { Readable } from 'node:stream';
import { GatewayError } from '../../gateway/errors.js';
import type { ByteRange, ObjectStat } from '../../gateway/ports/object-store.js';
import type { Answer } from '../http/answer.js';
import { S3Body } from './s3-body.js';
import type { Connection } from './s3-connection.js';
import { isCode, isMissing, statusOf } from './s3-errors.js';

type About = Omit<ObjectStat, 'key'>;

/** The body of an answer, of Wharf's own request or the SDK's. */
interface Content {
  /** All of it, where it came with the head. */
  readonly whole?: Buffer | undefined;
  readonly body: Readable;
}

interface Found {
  about: About;
  content: Content;
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
  const { about, content } = found;
  return { kind: 'found', about, body: new S3Body(content.body, s3.timeoutMs, signal) };
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
  if (signed) return { about: aboutOf(signed), content: signed };
  try {
    const command = new s3.sdk.GetObjectCommand({ Bucket: s3.bucket, Key: key, Range });
    const { Body, ContentLength = 0, ContentRange, LastModified } = await s3.client.send(command, { abortSignal });
    if (!(Body instanceof Readable))
      throw new GatewayError('store_unavailable', {}, new Error('GetObject without a body.'));
    const about = { size: sizeOf(ContentLength, ContentRange), modifiedAt: LastModified?.getTime() ?? 0 };
    return { about, content: { body: Body } };
  } catch (error) {
    if (isMissing(error)) return 'missing';
    if (isCode(error, 'InvalidRange') || statusOf(error) === 416) return 'range-not-satisfiable';
    throw error;
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
  return s3.run(async (abortSignal) => {
    const signed = await s3.signed.send({ method: 'HEAD', key }, abortSignal);
    if (signed) {
      return aboutOf(signed);
    }
    try {
      const command = new s3.sdk.HeadObjectCommand({ Bucket: s3.bucket, Key: key });
      const { ContentLength = 0, LastModified } = await s3.client.send(command, { abortSignal });
      return { size: ContentLength, modifiedAt: LastModified?.getTime() ?? 0 };
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  });
}

function aboutOf(answer: Answer): About {
  const modifiedAt = Date.parse(answer.header('last-modified') ?? '');
  return {
    size: sizeOf(Number(answer.header('content-length') ?? 0), answer.header('content-range')),
    modifiedAt: Number.isNaN(modifiedAt) ? 0 : modifiedAt,
  };
}

/** The object's, of which the body may be a part. */
function sizeOf(length: number, range: string | undefined): number {
  return range === undefined ? length : Number(range.split('/')[1]);
}
