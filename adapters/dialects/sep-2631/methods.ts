import { GatewayError } from '../../../gateway/errors.js';
import { isObject } from '../../../gateway/json/value.js';
import type {
  DialectMethod,
  FileOperation,
  FileOutcome,
  JsonObject,
  MethodRefusal,
} from '../../../gateway/ports/dialect.js';
import { ALGORITHM, digestValue, fileValue, sha256Of } from './file-value.js';

const URI = /^[a-z][a-z0-9+.-]*:\S+$/i;

const upload: Pick<DialectMethod, 'read' | 'refuse'> = { read: readUpload, refuse };
/** For revisions before `maxSize`. */
const oldUpload: typeof upload = { read: readUpload, refuse: refuseAsBefore };
const download: typeof upload = { read: (params) => ({ kind: 'authorizeDownload', uri: uriIn(params) }), refuse };

/** The methods of the current revision; older names get the answers of their revision. */
export const methods: Readonly<Record<string, DialectMethod>> = {
  'files/authorizeUpload': { ...upload, write: authorizedUpload },
  'files/authorizeDownload': { ...download, write: authorizedDownload },
  'files/prepareUpload': {
    ...oldUpload,
    write: (outcome) => {
      const { file, upload: transfer } = authorizedUpload(outcome);
      return { file: file ?? null, transfer: transfer ?? null, upload: transfer ?? null };
    },
  },
  'files/getDownload': {
    ...download,
    write: (outcome) => {
      const { file, download: transfer } = authorizedDownload(outcome);
      return {
        ...(transfer as JsonObject),
        file: file ?? null,
        transfer: transfer ?? null,
        download: transfer ?? null,
      };
    },
  },
  'files/completeUpload': {
    read: (params) => ({ kind: 'stat', uri: uriIn(params) }),
    write: (outcome) => ({ file: fileOf(outcome) }),
    refuse,
  },
};

function readUpload({ name, mimeType, size, digest }: JsonObject): FileOperation {
  if (given(name) && typeof name !== 'string') throw invalid('invalidName', 'name must be a string');
  if (given(mimeType) && typeof mimeType !== 'string') throw invalid('invalidMimeType', 'mimeType must be a string');
  if (given(size) && typeof size !== 'number') throw invalid('invalidSize', 'size must be a number of bytes');
  return {
    kind: 'authorizeUpload',
    ...(typeof name === 'string' && { name }),
    ...(typeof mimeType === 'string' && { mimeType }),
    ...(typeof size === 'number' && { size }),
    ...(given(digest) && { digest: readDigest(digest) }),
  };
}

function readDigest(digest: JsonObject[string] | undefined): string {
  if (isObject(digest) && typeof digest.algorithm === 'string' && digest.algorithm !== ALGORITHM) {
    throw invalid('unsupportedDigestAlgorithm', `the digest algorithm must be ${ALGORITHM}`);
  }
  const value = sha256Of(digest);
  if (value === undefined) {
    throw invalid('invalidDigest', `digest must be {algorithm: "${ALGORITHM}", value: base64url without padding}`);
  }
  return value;
}

function uriIn({ uri }: JsonObject): string {
  if (typeof uri === 'string' && URI.test(uri)) return uri;
  throw invalid('malformedUri', 'uri must be the URI of a file');
}

function authorizedUpload(outcome: FileOutcome): JsonObject {
  if (outcome.kind !== 'upload') throw new Error(`expected an upload, not the outcome ${outcome.kind}`);
  const { file, upload: ticket } = outcome;
  const { digest, ...others } = file;
  return {
    file: { ...others, ...(digest !== undefined && { digest: digestValue(digest) }) },
    upload: {
      transport: transportOf(ticket.url),
      method: 'POST',
      url: ticket.url,
      multipart: { fileField: 'file' },
      expiresAt: ticket.expiresAt,
    },
  };
}

function authorizedDownload(outcome: FileOutcome): JsonObject {
  if (outcome.kind !== 'download') throw new Error(`expected a download, not the outcome ${outcome.kind}`);
  const { url, expiresAt } = outcome.ref;
  return { file: fileOf(outcome), download: { transport: transportOf(url), method: 'GET', url, expiresAt } };
}

/** With exactly the URI of the request: clients compare. */
function fileOf(outcome: FileOutcome): JsonObject {
  if (outcome.kind === 'upload') throw new Error('nothing is stored yet');
  return { ...fileValue(outcome.ref), uri: outcome.uri };
}

/** `http` only if an operator runs Wharf on one machine. */
function transportOf(url: string): string {
  return url.startsWith('http:') ? 'http' : 'https';
}

function refuse({ reason, maxSize, actualSize }: MethodRefusal): JsonObject {
  return {
    reason,
    ...(reason === 'unsupportedDigestAlgorithm' && { supported: [ALGORITHM] }),
    ...(maxSize !== undefined && { maxSize }),
    ...(actualSize !== undefined && { actualSize }),
  };
}

function refuseAsBefore(refusal: MethodRefusal): JsonObject {
  if (refusal.reason !== 'maxSizeExceeded') return refuse(refusal);
  const { maxSize, ...data } = refuse(refusal);
  return { ...data, reason: 'maxFileSizeExceeded', ...(maxSize !== undefined && { maxFileSize: maxSize }) };
}

function given(value: JsonObject[string] | undefined): boolean {
  return value !== undefined && value !== null;
}

function invalid(reason: string, text: string): GatewayError {
  return new GatewayError('params_invalid', { reason, text });
}
