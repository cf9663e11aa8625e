import { createHash } from 'node:crypto';
import { GatewayError } from '../../gateway/errors.js';
import { drain } from '../http/drain.js';
import type { Connection } from './s3-connection.js';

/** Bytes on their way to the store. */
interface PutBytes {
  key: string;
  bytes: Buffer;
  /** Which part of which upload they are; without it they are an object. */
  part?: { uploadId: string; number: number };
  /** SHA-256 of the bytes, base64url, where it is known. */
  sha256?: string | undefined;
}

/**
 * Sends an object, or a part of one, in one request.
 * @returns the ETag
 */
export async function put(s3: Connection, put: PutBytes, abortSignal: AbortSignal): Promise<string> {
  const { key, bytes, part } = put;
  const answer = await s3.signed.send(
    {
      method: 'PUT',
      key,
      ...(part && { query: { partNumber: String(part.number), uploadId: part.uploadId } }),
      headers: { 'content-type': 'application/octet-stream' },
      body: bytes,
      sha256: s3.signsPayload ? hexDigest(put) : undefined,
      mark: 'etag',
    },
    abortSignal,
  );
  if (answer) {
    drain(answer);
    return marked(answer.header('etag'), 'PUT');
  }
  const { sdk, client, bucket } = s3;
  const object = { Bucket: bucket, Key: key, Body: bytes, ContentLength: bytes.length };
  const { ETag } = await (part
    ? client.send(new sdk.UploadPartCommand({ ...object, UploadId: part.uploadId, PartNumber: part.number }), {
        abortSignal,
      })
    : client.send(new sdk.PutObjectCommand(object), { abortSignal }));
  return marked(ETag, 'PUT');
}

/**
 * The ETag that S3 gives to what it has stored; Ceph 16 completes an upload with an empty one. A success without any is the
 * answer of something else, such as a proxy's page, and nothing is stored.
 */
export function marked(ETag: string | undefined, request: string): string {
  if (ETag !== undefined) return ETag;
  throw new GatewayError('store_unavailable', {}, new Error(`The store has answered ${request} without an ETag.`));
}

function hexDigest({ bytes, sha256 }: PutBytes): string {
  return sha256 === undefined
    ? createHash('sha256').update(bytes).digest('hex')
    : Buffer.from(sha256, 'base64url').toString('hex');
}
