import { createHash } from 'node:crypto';
import { GatewayError } from '../../../gateway/errors.js';
import type { ObjectWriter } from '../../../gateway/ports/object-store.js';
import type { Connection } from './connection.js';
import { isCode, statusOf } from './errors.js';
import { putObject, putPart, unmarked } from './put.js';
import { type About, asMark, look } from './read.js';

/** "Part numbers can be any number from 1 to 10,000, inclusive." (S3, UploadPart) */
const MAX_PARTS = 10_000;

/**
 * "If any part uploads are currently in progress, those part uploads might or might not succeed. As a result, it might
 * be necessary to abort a given multipart upload multiple times." (S3, AbortMultipartUpload)
 */
const ABORT_ROUNDS = 3;

/** A multipart upload that has been begun, and the parts it has. */
export interface BegunUpload {
  uploadId: string;
  parts: UploadedPart[];
}

export interface UploadedPart {
  PartNumber: number;
  ETag: string | undefined;
}

/**
 * One object on its way to S3. If the first write is also the last, it is one PutObject with a known length, a third of
 * the requests. Otherwise it is a multipart upload with one part per write: 5 MiB in memory whatever the object's size.
 */
export class S3Writer implements ObjectWriter {
  readonly #s3: Connection;
  readonly #key: string;
  readonly #signal: AbortSignal;
  readonly #partSize: number;
  readonly #parts: UploadedPart[] = [];
  #size = 0;
  /** CreateMultipartUpload was sent. The upload may exist even if the answer, and with it the id, was lost. */
  #multipart = false;
  #uploadId: string | undefined;
  /** PutObject or Complete was sent: the object may exist, whatever the answer. */
  #mayExist = false;
  #stored = false;
  #committed = false;
  #mark: string | undefined;
  #isCertain = true;
  /** The store has told the ETag of each part, and so has them. */
  #areTold = true;

  /** @param begun what it goes on with, if it does */
  constructor(
    s3: Connection,
    { key, partSize, begun }: { key: string; partSize: number; begun?: BegunUpload | undefined },
    signal: AbortSignal,
  ) {
    this.#s3 = s3;
    this.#key = key;
    this.#signal = signal;
    this.#partSize = partSize;
    if (!begun) return;
    this.#multipart = true;
    this.#uploadId = begun.uploadId;
    this.#parts = [...begun.parts];
    this.#size = begun.parts.length * partSize;
  }

  /** The multipart upload, once there is one, and how many parts it has. */
  get begun(): { uploadId: string | undefined; parts: number } {
    return { uploadId: this.#uploadId, parts: this.#parts.length };
  }

  /** False when the object was found rather than made: it may be of another writer's making then. */
  get isCertain(): boolean {
    return this.#isCertain;
  }

  async write(part: Buffer): Promise<void> {
    this.#uploadId ??= await this.#begin();
    // A file that ends at a part's border: the last write is empty, and S3 need not accept an empty part.
    if (part.length > 0) await this.#uploadPart(part, this.#uploadId);
  }

  async writeLast(part: Buffer, sha256?: string): Promise<void> {
    return this.#multipart ? this.write(part) : this.#put(part, sha256);
  }

  async commit(): Promise<string | undefined> {
    if (!this.#stored) await this.#complete();
    this.#committed = true;
    return this.#mark;
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

  async #put(bytes: Buffer, sha256: string | undefined): Promise<void> {
    this.#mayExist = true;
    const object = { key: this.#key, bytes, sha256 };
    this.#mark = await this.#s3.run((abortSignal) => putObject(this.#s3, object, abortSignal), this.#signal);
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
    const bytes = { key: this.#key, bytes: part, part: { uploadId, number } };
    const { ETag, isTold } = await this.#s3.run((abortSignal) => putPart(this.#s3, bytes, abortSignal), this.#signal);
    this.#areTold &&= isTold;
    this.#parts.push({ PartNumber: number, ETag });
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
      const { ETag } = await this.#s3.run(
        (abortSignal) => this.#s3.client.send(command, { abortSignal }),
        this.#signal,
      );
      if (ETag === undefined || !this.#areTold) throw unmarked('a part, or the end of an upload,');
      this.#mark = asMark(ETag) ?? markOfParts(this.#parts);
    } catch (error) {
      this.#signal.throwIfAborted();
      // The answer may be lost, or a repeated Complete refused because the first one succeeded. Only this writer uses
      // the key, so an object of the right size under it is the completed one. A store that has used up the time is not
      // asked again: the error would come after twice the time that it names.
      const left = until - performance.now();
      const found = left > 0 ? await this.#find(left).catch(() => undefined) : undefined;
      if (!found) throw error;
      this.#mark = found.mark;
      this.#isCertain = false;
    }
    this.#stored = true;
  }

  /** The object, if it is as long as what was written. */
  async #find(ms: number): Promise<About | undefined> {
    const found = await this.#s3.run((abortSignal) => look(this.#s3, this.#key, abortSignal), this.#signal, ms);
    return found?.size === this.#size ? found : undefined;
  }

  /**
   * Aborts the upload by its id, then every upload still listed under the key, because parts may arrive late and
   * answers get lost.
   */
  async #abortUploads(): Promise<void> {
    if (this.#uploadId !== undefined) await this.abortUpload(this.#uploadId);
    for (let round = 1; round <= ABORT_ROUNDS; round += 1) {
      const left = await this.#listUploads();
      if (left.length === 0) return;
      for (const id of left) await this.abortUpload(id);
    }
  }

  /** Ends one multipart upload, and no other under the key. */
  async abortUpload(uploadId: string): Promise<void> {
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
        // Listing is not allowed to these credentials, or unknown to this store: aborting by id must suffice.
        if (this.#uploadId !== undefined && [403, 405, 501].includes(statusOf(error))) return [];
        throw error;
      }
    });
  }
}

/**
 * The ETag of an object of parts, as S3 makes it of theirs, where the store does not tell it: Ceph 16 completes an upload with an
 * empty one. Where it is another one in fact, the object's digest is compared once.
 */
function markOfParts(parts: readonly UploadedPart[]): string | undefined {
  const marks = parts.map(({ ETag }) => asMark(ETag) ?? '');
  if (!marks.every((mark) => /^[0-9a-f]{32}$/.test(mark))) return undefined;
  return `${createHash('md5')
    .update(Buffer.from(marks.join(''), 'hex'))
    .digest('hex')}-${marks.length}`;
}
