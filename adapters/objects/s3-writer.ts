import { GatewayError } from '../../gateway/errors.js';
import type { ObjectWriter } from '../../gateway/ports/object-store.js';
import type { Connection } from './s3-connection.js';
import { isCode, isMissing, statusOf } from './s3-errors.js';

/** "Part numbers can be any number from 1 to 10,000, inclusive." (S3, UploadPart) */
const MAX_PARTS = 10_000;

/**
 * "If any part uploads are currently in progress, those part uploads might or might not succeed. As a result, it might
 * be necessary to abort a given multipart upload multiple times." (S3, AbortMultipartUpload)
 */
const ABORT_ROUNDS = 3;

/**
 * One object on its way to S3. If the first write is also the last, it is one PutObject with a known length, a third
 * of the requests. Otherwise a multipart upload, one part per write: 5 MiB in memory whatever the object's size.
 */
export class S3Writer implements ObjectWriter {
  readonly #s3: Connection;
  readonly #key: string;
  readonly #signal: AbortSignal;
  readonly #partSize: number;
  readonly #parts: { PartNumber: number; ETag: string | undefined }[] = [];
  #size = 0;
  /** CreateMultipartUpload was sent; there may be an upload even when its answer, and with it the id, was lost. */
  #multipart = false;
  #uploadId: string | undefined;
  /** PutObject or Complete was sent: there may be an object, whatever was answered. */
  #mayExist = false;
  #stored = false;
  #committed = false;

  constructor(s3: Connection, key: string, signal: AbortSignal, partSize: number) {
    this.#s3 = s3;
    this.#key = key;
    this.#signal = signal;
    this.#partSize = partSize;
  }

  async write(part: Buffer, last: boolean): Promise<void> {
    if (last && !this.#multipart) return this.#put(part);
    this.#uploadId ??= await this.#begin();
    // A file that ends on a part's border: the last write has nothing, and S3 need not take an empty part.
    if (part.length > 0) await this.#uploadPart(part, this.#uploadId);
  }

  async commit(): Promise<void> {
    if (!this.#stored) await this.#complete();
    this.#committed = true;
  }

  async abort(): Promise<void> {
    if (this.#committed) return;
    if (this.#multipart) await this.#abortUploads();
    if (this.#mayExist) {
      await this.#s3.run((abortSignal) =>
        this.#s3.client.send(new this.#s3.sdk.DeleteObjectCommand(this.#target), { abortSignal }),
      );
    }
    this.#multipart = false;
    this.#mayExist = false;
  }

  get #target(): { Bucket: string; Key: string } {
    return { Bucket: this.#s3.bucket, Key: this.#key };
  }

  async #put(bytes: Buffer): Promise<void> {
    const command = new this.#s3.sdk.PutObjectCommand({ ...this.#target, Body: bytes, ContentLength: bytes.length });
    this.#mayExist = true;
    await this.#s3.run((abortSignal) => this.#s3.client.send(command, { abortSignal }), this.#signal);
    this.#stored = true;
  }

  async #begin(): Promise<string> {
    const command = new this.#s3.sdk.CreateMultipartUploadCommand(this.#target);
    this.#multipart = true;
    const answer = await this.#s3.run((abortSignal) => this.#s3.client.send(command, { abortSignal }), this.#signal);
    if (answer.UploadId === undefined) {
      throw new GatewayError('store_unavailable', {}, new Error('CreateMultipartUpload was answered without an id.'));
    }
    return answer.UploadId;
  }

  async #uploadPart(part: Buffer, uploadId: string): Promise<void> {
    const number = this.#parts.length + 1;
    if (number > MAX_PARTS) {
      throw new GatewayError('store_object_too_large', {
        limit: `${MAX_PARTS} parts of ${this.#partSize} bytes`,
        allowed: MAX_PARTS * this.#partSize,
        actual: this.#size + part.length,
      });
    }
    const command = new this.#s3.sdk.UploadPartCommand({
      ...this.#target,
      UploadId: uploadId,
      PartNumber: number,
      Body: part,
      ContentLength: part.length,
    });
    const answer = await this.#s3.run((abortSignal) => this.#s3.client.send(command, { abortSignal }), this.#signal);
    this.#parts.push({ PartNumber: number, ETag: answer.ETag });
    this.#size += part.length;
  }

  async #complete(): Promise<void> {
    if (this.#uploadId === undefined) throw new GatewayError('internal', {}, new Error('commit() before any write.'));
    const command = new this.#s3.sdk.CompleteMultipartUploadCommand({
      ...this.#target,
      UploadId: this.#uploadId,
      MultipartUpload: { Parts: this.#parts },
    });
    this.#mayExist = true;
    const until = performance.now() + this.#s3.timeoutMs;
    try {
      await this.#s3.run((abortSignal) => this.#s3.client.send(command, { abortSignal }), this.#signal);
    } catch (error) {
      this.#signal.throwIfAborted();
      // The answer may be lost, or a repeated Complete be refused because the first one was carried out. The key is
      // used by this writer alone, so an object of the right size under it is the one just completed. A store that has
      // let the time run out is not asked again: the error would come after twice the time that it names.
      const left = until - performance.now();
      if (left <= 0 || !(await this.#exists(left).catch(() => false))) throw error;
    }
    this.#stored = true;
  }

  async #exists(ms: number): Promise<boolean> {
    const command = new this.#s3.sdk.HeadObjectCommand(this.#target);
    const size = await this.#s3.run(
      async (abortSignal) => {
        try {
          return (await this.#s3.client.send(command, { abortSignal })).ContentLength;
        } catch (error) {
          if (isMissing(error)) return undefined;
          throw error;
        }
      },
      this.#signal,
      ms,
    );
    return size === this.#size;
  }

  /** Aborts the upload under its id, then whatever is still listed under the key: parts that came late, lost answers. */
  async #abortUploads(): Promise<void> {
    if (this.#uploadId !== undefined) await this.#abortUpload(this.#uploadId);
    for (let round = 1; round <= ABORT_ROUNDS; round += 1) {
      const left = await this.#listUploads();
      if (left.length === 0) return;
      for (const id of left) await this.#abortUpload(id);
    }
  }

  async #abortUpload(uploadId: string): Promise<void> {
    const command = new this.#s3.sdk.AbortMultipartUploadCommand({ ...this.#target, UploadId: uploadId });
    await this.#s3.run(async (abortSignal) => {
      try {
        await this.#s3.client.send(command, { abortSignal });
      } catch (error) {
        // It is gone already, or Complete has turned it into the object that is removed next.
        if (!isCode(error, 'NoSuchUpload')) throw error;
      }
    });
  }

  async #listUploads(): Promise<string[]> {
    const command = new this.#s3.sdk.ListMultipartUploadsCommand({ Bucket: this.#s3.bucket, Prefix: this.#key });
    return this.#s3.run(async (abortSignal) => {
      try {
        const { Uploads = [] } = await this.#s3.client.send(command, { abortSignal });
        return Uploads.flatMap((one) => (one.Key === this.#key && one.UploadId !== undefined ? [one.UploadId] : []));
      } catch (error) {
        // Not allowed to this key, or unknown to this store: then aborting by id has to be enough.
        if (this.#uploadId !== undefined && [403, 405, 501].includes(statusOf(error))) return [];
        throw error;
      }
    });
  }
}
