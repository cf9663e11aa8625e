import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../errors.js';
import { nameIn } from '../files/names/content-disposition.js';
import { tooLarge } from '../files/tickets/upload-intent.js';
import type { UploadBody } from '../files/uploads/upload.js';
import type { Admission } from '../files/uploads/upload-links.js';
import { refuseCodings } from './codings.js';
import { mostOverhead, readFiles, readMultipart } from './multipart.js';
import { boundaryOf, malformed } from './multipart-head.js';
import { occurrences } from './origin/guard.js';

/** Headers with checksums. Each is compared with the bytes, or the request is refused. */
const CHECKSUM = /^(?:content-md5|digest|content-digest|repr-digest|x-amz-checksum-.*|x-goog-hash)$/;

/** RFC 9530 writes `sha-256=:BASE64:`, the older RFC 3230 `sha-256=BASE64`. */
const SHA_256 = /(?:^|,)\s*sha-256=:?([A-Za-z0-9+/]{43}=):?\s*(?=$|,)/gi;
const NAMED = /sha-256\s*=/gi;

/** What `curl --data-binary` sends for any content. */
const FORM_DEFAULT = 'application/x-www-form-urlencoded';

/** How a body is read: as a form with this boundary, or as the file itself. */
type Plan = { boundary: string } | Pick<UploadBody, 'claims' | 'size'>;

/**
 * Decides how to read the body of an upload from the request's head alone, so that a client waiting for `100 Continue`
 * need not send a body that would be refused.
 * @throws GatewayError `upload_malformed`, `upload_too_large`, `upload_size_differs`, `unsupported_coding`,
 * `unsupported_media_type`
 */
export function planUpload(
  request: IncomingMessage,
  admission: Pick<Admission, 'intent' | 'largest'>,
): (bytes: AsyncIterable<Buffer>) => UploadBody {
  const plan = planOf(request, admission);
  return (bytes) => ('boundary' in plan ? readMultipart(plan.boundary, bytes) : { bytes, ...plan });
}

/** The plan for a link that takes several files. @throws GatewayError as `planUpload` */
export function planUploads(
  request: IncomingMessage,
  admission: Pick<Admission, 'intent' | 'largest'>,
): (bytes: AsyncIterable<Buffer>) => AsyncIterable<UploadBody> {
  const plan = planOf(request, admission);
  const { most = 1 } = admission.intent.several ?? {};
  return (bytes) => ('boundary' in plan ? readFiles(plan.boundary, bytes, most) : only({ bytes, ...plan }));
}

function planOf(request: IncomingMessage, { intent, largest }: Pick<Admission, 'intent' | 'largest'>): Plan {
  const { headers } = request;
  refuseCodings(request);
  if (headers['content-range'] !== undefined) throw malformed('Content-Range is not supported', 'rangeNotSupported');
  const contentType = headers['content-type'];
  if (occurrences(request, 'content-type') > 1) throw malformed('it has two Content-Type headers');
  const checksums = Object.keys(headers).filter((name) => CHECKSUM.test(name));
  const length = headers['content-length'] === undefined ? undefined : Number(headers['content-length']);

  const boundary = contentType === undefined ? undefined : boundaryOf(contentType);
  if (boundary !== undefined) {
    if (checksums.length > 0) throw unsupportedDigest(checksums[0] as string);
    const { most = 1 } = intent.several ?? {};
    if (length !== undefined && length > most * largest.allowed + mostOverhead(most)) throw tooLarge(largest, length);
    return { boundary };
  }
  // SEP-1306: an upload of the client's own is a form
  if (intent.isCallers) throw new GatewayError('unsupported_media_type', { expected: 'multipart/form-data' });
  if (contentType !== undefined && /^\s*multipart\//i.test(contentType))
    throw new GatewayError('unsupported_media_type', { expected: 'multipart/form-data or the type of the file' });
  if (length !== undefined && length > largest.allowed) throw tooLarge(largest, length);
  if (length !== undefined && intent.size !== undefined && length !== intent.size)
    throw new GatewayError('upload_size_differs', { reason: 'sizeMismatch', allowed: intent.size, actual: length });
  const digests = checksums.flatMap((name) => sha256In(name, String(headers[name])));
  const mimeType = contentType?.startsWith(FORM_DEFAULT) ? undefined : contentType;
  return { size: length, claims: () => ({ name: nameIn(headers['content-disposition']), mimeType, digests }) };
}

async function* only(body: UploadBody): AsyncGenerator<UploadBody> {
  yield body;
}

/**
 * Of two values for one name some readers take the first, and others the last (RFC 8941 §3.2): the bytes must have both.
 * @returns the digests in base64url
 */
function sha256In(name: string, value: string): string[] {
  const found = [...value.matchAll(SHA_256)].map(([, digest = '']) =>
    Buffer.from(digest, 'base64').toString('base64url'),
  );
  if (found.length === 0 || found.length !== value.match(NAMED)?.length) throw unsupportedDigest(name);
  return found;
}

function unsupportedDigest(name: string): GatewayError {
  return malformed(`${name} cannot be checked here; use Content-Digest with sha-256`, 'unsupportedDigestAlgorithm');
}
