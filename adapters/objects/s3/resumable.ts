import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { GatewayError } from '../../../gateway/errors.js';
import type { FinishedWrite, ResumableWriter, ResumableWrites } from '../../../gateway/ports/object-store.js';
import type { Connection } from './connection.js';
import { isMissing } from './errors.js';
import { putObject } from './put.js';
import { readObject } from './read.js';
import { type BegunUpload, S3Writer, type UploadedPart } from './writer.js';

/** An object with the bytes that are not in a part yet. */
interface Rest {
  key: string;
  size: number;
}

/**
 * The saved part of an object: parts of a multipart upload and, for bytes less than a part, a small object beside it,
 * because S3 accepts no part below 5 MiB except the last. The small object is written once and never overwritten: until
 * a later place has been recorded, a writer may return to this one.
 */
interface Place {
  uploadId?: string;
  parts: number;
  /** Of the last bytes. */
  rest?: Rest;
  /** Key of the previous place's rest, which is no longer needed. */
  before?: string;
}

/** The SDK parses a page as a whole. */
const PAGE_PARTS = 500;

/** Continued writes as multipart uploads. S3 itself knows their parts best. */
export function s3Resumable(s3: Connection, prefix: string, partSize: number): ResumableWrites {
  const { sdk, client } = s3;
  const target = (key: string) => ({ Bucket: s3.bucket, Key: prefix + key });

  /** The first parts of an upload; undefined when it, or one of them, is gone. */
  const partsOf = async (key: string, UploadId: string, count: number, signal: AbortSignal) => {
    const parts: UploadedPart[] = [];
    let PartNumberMarker: string | undefined;
    while (parts.length < count) {
      const command = new sdk.ListPartsCommand({ ...target(key), UploadId, PartNumberMarker, MaxParts: PAGE_PARTS });
      const page = await s3.run(async (abortSignal) => {
        try {
          return await client.send(command, { abortSignal });
        } catch (error) {
          // "NoSuchUpload", which Ceph calls "NoSuchKey"
          if (isMissing(error)) return undefined;
          throw error;
        }
      }, signal);
      for (const { PartNumber, ETag, Size } of page?.Parts ?? []) {
        if (parts.length === count) break;
        if (PartNumber !== parts.length + 1 || Size !== partSize) return undefined;
        parts.push({ PartNumber, ETag });
      }
      // S3 always says both, and a few stores the first only if there is more: a page of a proxy does not mean that the upload is gone
      if (page && page.IsTruncated === undefined && page.UploadId !== UploadId)
        throw new GatewayError(
          'store_unavailable',
          {},
          new Error('The store has answered ListParts with something else.'),
        );
      if (!page?.IsTruncated || page.Parts === undefined) break;
      PartNumberMarker = page.NextPartNumberMarker;
    }
    return parts.length === count ? parts : undefined;
  };

  const openRest = async ({ key, size }: Rest, signal: AbortSignal): Promise<Readable | undefined> => {
    const read = await readObject(s3, prefix + key, undefined, signal);
    if (read.kind !== 'found') return undefined;
    if (read.about.size === size) return read.body;
    read.body.destroy();
    throw new GatewayError('store_unavailable', {}, new Error('The rest of an upload is not the one that was stored.'));
  };

  return {
    async begin(key, signal) {
      signal.throwIfAborted();
      return new S3ResumableWriter({ s3, prefix, partSize, key, signal });
    },

    async resume(key, text, signal) {
      const place = JSON.parse(text) as Place;
      const { uploadId } = place;
      let begun: BegunUpload | undefined;
      if (uploadId !== undefined) {
        const parts = await partsOf(key, uploadId, place.parts, signal);
        if (!parts) return undefined;
        begun = { uploadId, parts };
      }
      const rest = place.rest ? await openRest(place.rest, signal) : Readable.from([]);
      if (!rest) return undefined;
      const writer = new S3ResumableWriter({ s3, prefix, partSize, key, signal, begun, place });
      return { writer, rest, restSize: place.rest?.size ?? 0 };
    },

    async discard(key, text) {
      const place = JSON.parse(text) as Place;
      const { uploadId } = place;
      const signal = new AbortController().signal;
      const begun = uploadId === undefined ? undefined : { uploadId, parts: [] };
      await new S3ResumableWriter({ s3, prefix, partSize, key, signal, begun, place }).abort();
    },
  };
}

interface WriterOptions {
  s3: Connection;
  prefix: string;
  partSize: number;
  key: string;
  signal: AbortSignal;
  begun?: BegunUpload | undefined;
  /** Where it continues. */
  place?: Place;
}

class S3ResumableWriter implements ResumableWriter {
  readonly #options: WriterOptions;
  readonly #writer: S3Writer;
  /** Key of the rest that the last saved place needs. */
  #rest: string | undefined;
  /** Keys that no saved place needs now. */
  readonly #unneeded = new Set<string>();

  constructor(options: WriterOptions) {
    const { s3, prefix, key, signal, partSize, begun, place } = options;
    this.#options = options;
    this.#writer = new S3Writer(s3, { key: prefix + key, partSize, begun }, signal);
    this.#rest = place?.rest?.key;
    if (place?.before !== undefined) this.#unneeded.add(place.before);
  }

  write(part: Buffer): Promise<void> {
    return this.#writer.write(part);
  }

  async save(bytes: Buffer): Promise<string> {
    const { key, partSize } = this.#options;
    const isPart = bytes.length === partSize;
    if (isPart) await this.write(bytes);
    const rest = isPart || bytes.length === 0 ? undefined : { key: restKey(key), size: bytes.length };
    await this.#removeUnneeded();
    if (rest) await this.#put(rest.key, bytes);
    const before = this.#rest;
    if (before !== undefined) this.#unneeded.add(before);
    this.#rest = rest?.key;
    const { uploadId, parts } = this.#writer.begun;
    const place: Place = {
      ...(uploadId !== undefined && { uploadId }),
      parts,
      ...(rest && { rest }),
      ...(before !== undefined && { before }),
    };
    return JSON.stringify(place);
  }

  async finish(last: Buffer): Promise<FinishedWrite> {
    await this.#writer.writeLast(last);
    const mark = await this.#writer.commit();
    await this.#removeRests();
    return { isCertain: this.#writer.isCertain, mark };
  }

  async close(): Promise<void> {}

  /** Only this writer knows the id of an upload, or the key of a rest, that no place names. */
  async removeUnsaved(kept: string): Promise<void> {
    const place = JSON.parse(kept) as Place;
    const { uploadId } = this.#writer.begun;
    if (uploadId !== undefined && uploadId !== place.uploadId) await this.#writer.abortUpload(uploadId);
    if (this.#rest === place.rest?.key) return;
    this.#unneeded.clear();
    await this.#removeRests();
  }

  async abort(): Promise<void> {
    await this.#writer.abort();
    await this.#removeRests();
  }

  async #put(key: string, bytes: Buffer): Promise<void> {
    const { s3, prefix, signal } = this.#options;
    await s3.run((abortSignal) => putObject(s3, { key: prefix + key, bytes }, abortSignal), signal);
  }

  #removeRests(): Promise<void> {
    if (this.#rest !== undefined) this.#unneeded.add(this.#rest);
    this.#rest = undefined;
    return this.#removeUnneeded();
  }

  /** The sweep removes what stays. */
  async #removeUnneeded(): Promise<void> {
    const { s3, prefix } = this.#options;
    for (const key of this.#unneeded) {
      this.#unneeded.delete(key);
      const command = new s3.sdk.DeleteObjectCommand({ Bucket: s3.bucket, Key: prefix + key });
      await s3.run((abortSignal) => s3.client.send(command, { abortSignal })).catch(() => undefined);
    }
  }
}

/** Key for the bytes after an object's parts; it has never been used before. */
function restKey(key: string): string {
  return `${key}-${randomBytes(8).toString('hex')}`;
}
