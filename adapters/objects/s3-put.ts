import { createHash } from 'node:crypto';
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
export async function put(s3: Connection, put: PutBytes, abortSignal: AbortSignal): Promise<string | undefined> {
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

function hexDigest({ bytes, sha256 }: PutBytes): string {
  return sha256 === undefined
    ? createHash('sha256').update(bytes).digest('hex')
    : Buffer.from(sha256, 'base64url').toString('hex');
}
