import { type ErrorFacts, GatewayError } from '../../errors.js';
import { isAnyType } from '../../policy/accept.js';
import { type AcceptedBy, keptLists, MAX_ACCEPT, MAX_TYPE } from '../../policy/message-limits.js';
import { parseMediaType, showsInBytes } from '../names/media-type.js';
import { uploadedType } from '../names/upload-type.js';
import type { Several } from './several.js';

/** A limit of the size of files: its config name, and the place that sets it, where that is more special. */
export interface SizeBy {
  limit: string;
  source?: string;
}

/** The largest size of an upload. */
export interface UploadBound extends SizeBy {
  allowed: number;
}

/** What is known about a file before it is uploaded. The bytes must match everything named here. */
export interface UploadIntent {
  /** The future owner of the file. */
  principal: string;
  name?: string;
  mimeType?: string;
  /** Bytes. */
  size?: number;
  /** SHA-256, base64url without padding. */
  digest?: string;
  /** Largest size that the caller accepts, if that is less than `limits.file`. */
  maxSize?: number;
  /** What limits it to that. */
  maxSizeBy?: SizeBy;
  /** `image/png`, `image/*`, `.pdf`; absent: anything. */
  accept?: readonly string[];
  /** The lists that it follows from. */
  acceptBy?: readonly AcceptedBy[];
  /** Only the caller may upload the file, with its credentials. */
  isCallers?: true;
  /** The link is for a person, whose page asks for a code where callers are told apart. */
  isForPerson?: true;
  /** The link takes several files, as one bundle. */
  several?: Several;
  /** Id of the bundle to which the file belongs; set by Wharf. */
  bundle?: string;
  /** HMAC of that code; set by Wharf. */
  codeSeal?: string;
  /**
   * The file's purpose, shown to the person who uploads it; `message` is the assistant's own text, `question` what the
   * person was asked in the client's own window.
   */
  purpose?: { server: string; tool?: string; argument?: string; message?: string; question?: string };
}

/** SHA-256 in base64url without padding: 43 characters, of which the last carries four bits. */
const DIGEST = /^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/;

/** Bounds of what a ticket stores, because it is one value of the state store. */
const MAX_NAME = 1024;
const MAX_MESSAGE = 1000;

/** Largest size of an upload, and the name of the setting behind it. */
export function largestUpload({ maxSize, maxSizeBy }: UploadIntent, fileLimit: number): UploadBound {
  return maxSize !== undefined && maxSize < fileLimit
    ? { limit: 'maxSize', ...maxSizeBy, allowed: maxSize }
    : { limit: 'limits.file', allowed: fileLimit };
}

/** What limits an upload, by the error that asks for it. */
export function sizeByIn({ sizeLimit, sizeSource }: ErrorFacts): Pick<UploadIntent, 'maxSizeBy'> {
  if (sizeLimit === undefined) return {};
  return { maxSizeBy: { limit: String(sizeLimit), ...(sizeSource !== undefined && { source: String(sizeSource) }) } };
}

/** What limits its types, by the same error. */
export function acceptByIn({ acceptBy }: ErrorFacts): Pick<UploadIntent, 'acceptBy'> {
  return Array.isArray(acceptBy) ? { acceptBy: acceptBy as readonly AcceptedBy[] } : {};
}

/** What a ticket keeps of it. */
export function keptIntent({ acceptBy = [], ...intent }: UploadIntent): UploadIntent {
  return { ...intent, ...keptLists(acceptBy) };
}

/** @throws GatewayError `upload_invalid`, `upload_too_large` */
export function checkIntent(intent: UploadIntent, fileLimit: number): void {
  const { name, mimeType, size, digest, accept, purpose } = intent;
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
  if (purpose?.message !== undefined && purpose.message.length > MAX_MESSAGE)
    throw invalid('invalidMessage', `the message is longer than ${MAX_MESSAGE} characters`);
  const largest = largestUpload(intent, fileLimit);
  if (size !== undefined && size > largest.allowed) throw tooLarge(largest, size);
}

/**
 * The type of the file that is announced, where it says anything: a text that has no name yet may get one that fits.
 * @throws GatewayError `upload_type_refused` for a type under which no file would be accepted
 */
export function announcedType({ mimeType, name, accept, acceptBy }: UploadIntent): string | undefined {
  if (mimeType === undefined || isAnyType(mimeType) || (name === undefined && !showsInBytes(mimeType)))
    return undefined;
  return uploadedType({ announced: mimeType, declared: undefined, sniffed: 'unread', name, accept, acceptBy });
}

/** How much of a file was read. */
export interface ReadBytes {
  /** Not to its end: it has at least so many bytes. */
  isSoFar?: true;
}

/** The error for a file with more bytes than may be uploaded. */
export function tooLarge(
  { limit, source, allowed }: UploadBound,
  actual: number,
  { isSoFar }: ReadBytes = {},
): GatewayError {
  const told = { ...(source !== undefined && { source }), ...(isSoFar && { isSoFar }) };
  return new GatewayError('upload_too_large', { reason: 'maxSizeExceeded', limit, allowed, actual, ...told });
}

function invalid(reason: string, detail: string): GatewayError {
  return new GatewayError('upload_invalid', { reason, detail });
}
