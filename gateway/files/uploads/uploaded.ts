import { GatewayError } from '../../errors.js';
import type { FileRecord } from '../file.js';
import type { Library } from '../library.js';
import { fileNameFor } from '../names/file-name.js';
import { extensionOf, sniff } from '../names/media-type.js';
import { writtenAs } from '../names/text-hint.js';
import { uploadedType } from '../names/upload-type.js';
import type { ReadBytes, UploadIntent } from '../tickets/upload-intent.js';

/** What is declared about a file together with its bytes. */
export interface UploadClaims {
  name?: string | undefined;
  mimeType?: string | undefined;
  /** As in `UploadIntent`. */
  digests?: readonly string[];
}

/**
 * Owner, name and type of an uploaded file.
 * @param head its first bytes
 * @throws GatewayError `upload_type_refused`
 */
export async function describeUpload(
  head: Buffer,
  claims: UploadClaims,
  { principal, name: announcedName, mimeType: announced, accept, acceptBy }: UploadIntent,
): Promise<Pick<FileRecord, 'principal' | 'name' | 'mimeType' | 'notUtf8'>> {
  const sniffed = await sniff(head);
  const given = announcedName ?? claims.name;
  const seen = head.length === 0 ? 'empty' : sniffed;
  const types = { announced, declared: claims.mimeType, accept, acceptBy };
  const mimeType = uploadedType({ ...types, sniffed: seen, name: given });
  const name = fileNameFor({ name: given, owner: 'upload', index: 1, ext: extensionOf(mimeType, sniffed) });
  return { principal, name, mimeType, ...writtenAs(mimeType, head) };
}

/**
 * @throws GatewayError `upload_digest_differs` when it differs from the announced digest, or from any other declared
 * one
 */
export function checkSum(digest: string, intent: UploadIntent, said: readonly string[] = []): void {
  if ([...said, intent.digest ?? digest].some((one) => one !== digest))
    throw new GatewayError('upload_digest_differs', { reason: 'digestMismatch' });
}

/** The error for a file that is not as long as was announced. */
export function sizeDiffers(allowed: number, actual: number, { isSoFar }: ReadBytes = {}): GatewayError {
  const facts = { reason: 'sizeMismatch', allowed, actual };
  return new GatewayError('upload_size_differs', isSoFar ? { ...facts, isSoFar } : facts);
}

/** The error of a ticket that has stored its file. */
export function uploadDone(): GatewayError {
  return new GatewayError('upload_done', { reason: 'alreadyUploaded' });
}

/** The error of an upload whose file is not admitted. */
export async function notAdmitted(id: string, library: Pick<Library, 'isGivenUp'>): Promise<GatewayError> {
  return (await library.isGivenUp(id)) ? new GatewayError('upload_cancelled') : uploadDone();
}

/** The error of a ticket, or an upload, whose time is over. */
export function uploadExpired(): GatewayError {
  return new GatewayError('link_expired', { reason: 'fileExpired' });
}
