import { GatewayError } from '../errors.js';
import { parseMediaType } from './names/media-type.js';

/** What is known of a file before it is uploaded. Whatever is named here, the bytes must keep to. */
export interface UploadIntent {
  /** Who the file will belong to. */
  principal: string;
  name?: string;
  mimeType?: string;
  /** Bytes. */
  size?: number;
  /** SHA-256, base64url without padding. */
  digest?: string;
  /** Bytes the caller takes at most, where that is less than `limits.file`. */
  maxSize?: number;
  /** `image/png`, `image/*`, `.pdf`; absent: anything. */
  accept?: readonly string[];
  /** What the file is for, to be told to the person who uploads it. */
  purpose?: { server: string; tool?: string; argument?: string };
}

/** SHA-256 in base64url without padding: 43 characters, of which the last carries four bits. */
const DIGEST = /^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/;

/** Bounds of what a ticket remembers: it is one value of the state store. */
const MAX_NAME = 1024;
const MAX_ACCEPT = 100;
/** RFC 6838 §4.2: a type and a subtype have at most 127 characters each. */
const MAX_TYPE = 255;

/** The most bytes an upload may have, and the name of what says so. */
export function largestUpload(intent: UploadIntent, fileLimit: number): { limit: string; allowed: number } {
  return intent.maxSize !== undefined && intent.maxSize < fileLimit
    ? { limit: 'maxSize', allowed: intent.maxSize }
    : { limit: 'limits.file', allowed: fileLimit };
}

/** @throws GatewayError `upload_invalid`, `upload_too_large` */
export function checkIntent(intent: UploadIntent, fileLimit: number): void {
  const { name, mimeType, size, digest, accept } = intent;
  if (size !== undefined && (!Number.isSafeInteger(size) || size < 0))
    throw invalid('invalidSize', 'the size must be a whole number of bytes');
  if (mimeType !== undefined && parseMediaType(mimeType) === undefined)
    throw invalid('invalidMimeType', 'the MIME type must have the form type/subtype');
  if (digest !== undefined && !DIGEST.test(digest))
    throw invalid('invalidDigest', 'the digest must be a SHA-256 in base64url without padding');
  if (name !== undefined && name.length > MAX_NAME)
    throw invalid('invalidName', `the name is longer than ${MAX_NAME} characters`);
  if (accept !== undefined && accept.length > MAX_ACCEPT)
    throw invalid('invalidAccept', `more than ${MAX_ACCEPT} types are accepted`);
  if (accept?.some((type) => type.length > MAX_TYPE))
    throw invalid('invalidAccept', `a type has more than ${MAX_TYPE} characters`);
  const { limit, allowed } = largestUpload(intent, fileLimit);
  if (size !== undefined && size > allowed) throw tooLarge(limit, allowed, size);
}

export function tooLarge(limit: string, allowed: number, actual: number): GatewayError {
  return new GatewayError('upload_too_large', { reason: 'maxSizeExceeded', limit, allowed, actual });
}

function invalid(reason: string, detail: string): GatewayError {
  return new GatewayError('upload_invalid', { reason, detail });
}
