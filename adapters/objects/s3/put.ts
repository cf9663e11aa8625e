import { createHash } from 'node:crypto';
import { AdvisedError } from '../../../gateway/errors/system.js';
import { GatewayError } from '../../../gateway/errors.js';
import { drain } from '../../http/drain.js';
import type { Connection } from './connection.js';
import { asMark, look } from './read.js';
import { NOT_S3 } from './refusals.js';

/** Bytes on their way to the store. */
interface PutBytes {
  key: string;
  bytes: Buffer;
  /** Which part of which upload they are; without it they are an object. */
  part?: { uploadId: string; number: number };
  /** SHA-256 of the bytes, base64url, where it is known. */
  sha256?: string | undefined;
}

/** The ETag of bytes that are stored. */
interface Marked {
  ETag: string;
  /** False where the store has not told it: whether the bytes are there is known only from a look. */
  isTold: boolean;
}

/**
 * Sends an object in one request. A few stores give objects their ETags and do not tell them in the answer to PUT; so does a
 * proxy's page. One look tells them apart: no other writer uses the key.
 * @returns its mark, where the store tells it
 */
export async function putObject(
  s3: Connection,
  object: PutBytes,
  abortSignal: AbortSignal,
): Promise<string | undefined> {
  const { key, bytes } = object;
  const etag = await send(s3, object, abortSignal);
  if (etag !== undefined) return asMark(etag);
  const found = await look(s3, key, abortSignal).catch(() => undefined);
  if (found?.size !== bytes.length) throw unmarked('PUT');
  return found.mark;
}

/**
 * Sends a part of an object. Where the store does not tell its ETag, that of S3 stands in: the MD5 of the bytes. A store that
 * has not got the part, or another one, refuses to complete the upload with it.
 */
export async function putPart(s3: Connection, part: PutBytes, abortSignal: AbortSignal): Promise<Marked> {
  const ETag = await send(s3, part, abortSignal);
  if (ETag !== undefined) return { ETag, isTold: true };
  return { ETag: `"${createHash('md5').update(part.bytes).digest('hex')}"`, isTold: false };
}

/** @returns the ETag, if the store tells it */
async function send(s3: Connection, put: PutBytes, abortSignal: AbortSignal): Promise<string | undefined> {
  const { key, bytes, part } = put;
  const answer = await s3.signed.send(
    {
      method: 'PUT',
      key,
      ...(part && { query: { partNumber: String(part.number), uploadId: part.uploadId } }),
      headers: { 'content-type': 'application/octet-stream' },
      body: bytes,
      sha256: s3.signsPayload ? hexDigest(put) : undefined,
    },
    abortSignal,
  );
  if (answer) {
    drain(answer);
    return answer.header('etag');
  }
  const { sdk, client, bucket } = s3;
  const object = { Bucket: bucket, Key: key, Body: bytes, ContentLength: bytes.length };
  const { ETag } = await (part
    ? client.send(new sdk.UploadPartCommand({ ...object, UploadId: part.uploadId, PartNumber: part.number }), {
        abortSignal,
      })
    : client.send(new sdk.PutObjectCommand(object), { abortSignal }));
  return ETag;
}

/** A success that may be the answer of something else, such as a proxy's page. Ceph 16 completes an upload with an empty ETag. */
export function unmarked(request: string): GatewayError {
  const why = `The store has answered ${request} without an ETag.`;
  return new GatewayError('store_unavailable', {}, new AdvisedError(why, NOT_S3, { message: why }));
}

function hexDigest({ bytes, sha256 }: PutBytes): string {
  return sha256 === undefined
    ? createHash('sha256').update(bytes).digest('hex')
    : Buffer.from(sha256, 'base64url').toString('hex');
}
