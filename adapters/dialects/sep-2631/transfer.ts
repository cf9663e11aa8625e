import { isObject, textIn } from '../../../gateway/json/value.js';
import type {
  FileFacts,
  FileReason,
  JsonObject,
  JsonValue,
  OwnRequest,
  RemoteTransfer,
  TransferDescriptor,
} from '../../../gateway/ports/dialect.js';
import { FILES } from './capability.js';
import { OF_FORMS } from './declared.js';
import { digestValue, readFileValue } from './file-value.js';
import { marks, remoteFiles, rename } from './remote-files.js';

/** Servers of 2026-07-28 read what each request declares, and some do that in every version. */
const META: JsonObject = { 'io.modelcontextprotocol/clientCapabilities': { files: FILES } };

const REASONS: ReadonlySet<string> = new Set<FileReason>([
  'maxSizeExceeded',
  'mimeTypeNotAccepted',
  'malformedUri',
  'digestMismatch',
  'sizeMismatch',
  'unsupportedDigestAlgorithm',
  'invalidDigest',
  'invalidSize',
  'invalidMimeType',
  'fileNotFound',
  'fileExpired',
  'uploadIncomplete',
  'transferModeNotAllowed',
  'quotaExceeded',
  'rejectedByPolicy',
]);

/** RFC 3339 §5.6. Other texts that a date parser accepts are read in a time zone of its choice. */
const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/i;

export const transfer: RemoteTransfer = {
  ofForms: OF_FORMS,
  uploadRequests: ({ name, mimeType, size, digest }: FileFacts): OwnRequest[] => [
    {
      method: 'files/authorizeUpload',
      params: { name, mimeType, size, digest: digestValue(digest), _meta: META },
    },
    // strict servers refuse unknown members, and this method had no digest
    { method: 'files/prepareUpload', params: { name, mimeType, size, _meta: META } },
  ],

  readUpload({ method, params }, result, revision) {
    const { file, upload } = result;
    const read = readFileValue(file);
    const descriptor = readDescriptor(upload ?? result.transfer);
    if (!read || !descriptor || descriptor.method === 'GET') return undefined;
    return {
      descriptor,
      argument: argumentFor(read.uri, params, revision),
      ...(read.size !== undefined && { size: read.size }),
      ...(read.digest !== undefined && { digest: read.digest }),
      // early servers expect this notice when the bytes are there; the others do not know the method
      ...(method === 'files/prepareUpload' && {
        complete: { method: 'files/completeUpload', params: { uri: read.uri, _meta: META } },
      }),
    };
  },

  downloadRequests: (uri: string): OwnRequest[] =>
    ['files/authorizeDownload', 'files/getDownload'].map((method) => ({ method, params: { uri, _meta: META } })),

  readDownload({ params }, result) {
    // the oldest answer is the bare descriptor
    const descriptor = readDescriptor(result.download ?? result.transfer ?? result);
    if (descriptor?.method !== 'GET') return undefined;
    const file = readFileValue(result.file);
    if (file && file.uri !== params.uri) return undefined;
    return {
      descriptor,
      ...(file && { claims: file.claims }),
      ...(file?.size !== undefined && { size: file.size }),
      ...(file?.digest !== undefined && { digest: file.digest }),
    };
  },

  readRefusal(data) {
    if (!isObject(data)) return undefined;
    const reason = textIn(data, 'reason');
    if (reason === undefined) return undefined;
    const maxSize = data.maxSize ?? data.maxFileSize;
    const { actualSize } = data;
    const ours = reason === 'maxFileSizeExceeded' ? 'maxSizeExceeded' : reason;
    return {
      reason: REASONS.has(ours) ? (ours as FileReason) : 'unreachable',
      ...(typeof maxSize === 'number' && { maxSize }),
      ...(typeof actualSize === 'number' && { actualSize }),
    };
  },

  marks,
  remoteFiles,
  rename,
};

/** The argument's value once the file is uploaded. */
function argumentFor(uri: string, { name, mimeType, size }: JsonObject, revision: string): JsonValue {
  const about = { type: 'file', name: name ?? null, mimeType: mimeType ?? null, size: size ?? null };
  switch (revision) {
    case 'object-with-file':
      return { ...about, content: { file: { type: 'file', uri, source: 'upload' } } };
    case 'object-with-uri':
      return { ...about, content: { uri } };
    default:
      return uri;
  }
}

function readDescriptor(value: JsonValue | undefined): TransferDescriptor | undefined {
  if (!isObject(value)) return undefined;
  const { method, url, transport, multipart } = value;
  if (method !== 'GET' && method !== 'PUT' && method !== 'POST') return undefined;
  if (typeof url !== 'string' || (transport !== undefined && transport !== 'https' && transport !== 'http'))
    return undefined;
  const headers = texts(value.headers);
  if (!headers) return undefined;
  const expiresAt = timeIn(value);
  const about: Pick<TransferDescriptor, 'method' | 'url' | 'expiresAt'> = {
    method,
    url,
    ...(expiresAt !== undefined && { expiresAt }),
  };
  if (multipart === undefined || multipart === null) return { ...about, headers };
  const fields = isObject(multipart) ? texts(multipart.fields) : undefined;
  const fileField = isObject(multipart) ? (multipart.fileField ?? 'file') : undefined;
  if (!fields || typeof fileField !== 'string') return undefined;
  return { ...about, headers: withoutFormType(headers), multipart: { fileField, fields } };
}

/** An unreadable time counts as absent: the address itself shows whether it has expired. */
function timeIn(value: JsonObject): number | undefined {
  const text = textIn(value, 'expiresAt');
  if (text === undefined || !DATE_TIME.test(text)) return undefined;
  const time = Date.parse(text.toUpperCase());
  return Number.isNaN(time) ? undefined : time;
}

/** The SEP's own example has a multipart type without a boundary, which only the writer of the form knows. */
function withoutFormType(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name.toLowerCase() !== 'content-type'));
}

/** Strings by name; empty if absent; undefined for anything else. */
function texts(value: JsonValue | undefined): Record<string, string> | undefined {
  if (value === undefined || value === null) return {};
  if (!isObject(value)) return undefined;
  const entries = Object.entries(value);
  return entries.every((entry): entry is [string, string] => typeof entry[1] === 'string')
    ? Object.fromEntries(entries)
    : undefined;
}
