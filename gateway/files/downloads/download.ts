import type { Readable } from 'node:stream';
import { GatewayError } from '../../errors.js';
import type { ByteRange } from '../../ports/object-store.js';
import type { FileRecord, OwnedObject } from '../file.js';
import { attachment, inline } from '../names/content-disposition.js';
import { safeMediaType, shownMediaType } from '../names/media-type.js';
import type { StoredObjects } from '../stored/stored-objects.js';
import { decideRange } from './range.js';

/** The parts of a request that decide what of a file is sent. */
export interface DownloadRequest {
  method: 'GET' | 'HEAD';
  range?: string | undefined;
  ifRange?: string | undefined;
  ifMatch?: string | undefined;
  ifNoneMatch?: string | undefined;
  /** The file is to be saved, even if a browser can show it. */
  isSaved?: boolean;
}

interface DownloadDecision {
  status: 200 | 206 | 304 | 412 | 416;
  /** Lower-case names; every value is printable ASCII. */
  headers: Record<string, string>;
  /** What to read of the file; absent when no byte of it is sent. An empty file is read whole. */
  body?: { range?: ByteRange };
}

type RepresentationFacts = Pick<FileRecord, 'name' | 'mimeType' | 'notUtf8' | 'size' | 'digest' | 'resource'>;

/** Names the resource that a body belongs to: a client that is redirected to it gets no other answer that says so. */
export const RESOURCE_HEADER = 'mcp-resource-uri';

/** The header that names it; none for a file that is not known as one. */
export function resourceHeader({ resource }: Pick<FileRecord, 'resource'>): Record<string, string> {
  return resource === undefined ? {} : { [RESOURCE_HEADER]: headerUri(resource) };
}

/** A URI in the characters that a header allows. */
export function headerUri(uri: string): string {
  return Buffer.from(uri)
    .toString('latin1')
    .replace(/[^\x21-\x7e]/g, (byte) => {
      return `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
    });
}

/** The strong validator of a file: its bytes never change, so neither does their digest. */
export function entityTag(digest: string): string {
  return `"${digest}"`;
}

/**
 * Name and type of a download, both for Wharf's own response and for a presigned one. A file that a browser can show
 * without running it opens in the tab; any other is saved.
 */
export function servedAs(
  { name, mimeType, notUtf8 }: Pick<FileRecord, 'name' | 'mimeType' | 'notUtf8'>,
  isSaved = false,
): { contentType: string; contentDisposition: string } {
  const shown = isSaved ? undefined : shownMediaType(mimeType, notUtf8 !== true);
  if (shown === undefined) return { contentType: safeMediaType(mimeType), contentDisposition: attachment(name) };
  return { contentType: shown, contentDisposition: inline(name) };
}

/**
 * Decides status, headers and byte range of the answer, in the order of RFC 9110 §13.2.2: If-Match, If-None-Match, then
 * Range under its If-Range. Pure.
 * @see https://www.rfc-editor.org/rfc/rfc9110#section-13.2.2
 */
export function decideDownload(record: RepresentationFacts, request: DownloadRequest): DownloadDecision {
  const { contentType, contentDisposition } = servedAs(record, request.isSaved);
  const etag = entityTag(record.digest);
  const shared = {
    etag,
    'accept-ranges': 'bytes',
    'content-disposition': contentDisposition,
    ...resourceHeader(record),
  };

  if (request.ifMatch !== undefined && !listsTag(request.ifMatch, etag, 'strong')) {
    return { status: 412, headers: { etag } };
  }
  if (request.ifNoneMatch !== undefined && listsTag(request.ifNoneMatch, etag, 'weak')) {
    return { status: 304, headers: { etag } };
  }

  // §14.2: Range is defined for GET only. §13.1.5: an If-Range other than this exact strong tag (a date, a weak tag)
  // means that the client's part may be of other bytes, so it gets all of them.
  const usesRange = request.method === 'GET' && (request.ifRange === undefined || request.ifRange.trim() === etag);
  const decision = decideRange(usesRange ? request.range : undefined, record.size);
  if (decision.kind === 'unsatisfiable') {
    return { status: 416, headers: { 'accept-ranges': 'bytes', 'content-range': `bytes */${record.size}` } };
  }

  const headers = {
    ...shared,
    'cache-control': 'no-store, no-transform',
    'content-type': contentType,
    'repr-digest': reprDigest(record.digest),
  };
  if (decision.kind === 'part') {
    const { start, end } = decision.range;
    const part = { 'content-range': `bytes ${start}-${end}/${record.size}`, 'content-length': String(end - start + 1) };
    return { status: 206, headers: { ...headers, ...part }, body: { range: decision.range } };
  }
  const whole = { ...headers, 'content-length': String(record.size) };
  return request.method === 'HEAD' ? { status: 200, headers: whole } : { status: 200, headers: whole, body: {} };
}

/**
 * True when a condition of the request is about these bytes as Wharf calls them: behind a redirect the store knows them by
 * another tag, and would take them for others.
 */
export function asksByTag({ digest }: Pick<FileRecord, 'digest'>, request: DownloadRequest): boolean {
  const { ifRange, ifMatch, ifNoneMatch } = request;
  return [ifRange, ifMatch, ifNoneMatch].some((tags) => tags?.includes(entityTag(digest)));
}

/**
 * Looks whether a file is there, before a client is sent to the store for it: the store's own answer is nothing for people.
 * @throws GatewayError `file_gone`, or the store's error
 */
export async function expectStored(
  stored: Pick<StoredObjects, 'isThere'>,
  record: OwnedObject,
  signal: AbortSignal,
): Promise<void> {
  if (!(await stored.isThere(record, signal))) throw new GatewayError('file_gone');
}

/** RFC 9530: lets a program verify the whole file, whichever part this response holds. */
export function reprDigest(digest: string): string {
  return `sha-256=:${Buffer.from(digest, 'base64url').toString('base64')}:`;
}

/** True when `header`, a list of entity tags or `*`, contains `etag`. A weak tag never matches strongly. */
function listsTag(header: string, etag: string, comparison: 'strong' | 'weak'): boolean {
  if (header.trim() === '*') return true;
  for (const [tag] of header.matchAll(/(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"/g)) {
    if (tag === etag || (comparison === 'weak' && tag === `W/${etag}`)) return true;
  }
  return false;
}

/**
 * Opens the bytes of a decision. Destroying the stream frees the store's connection.
 * @throws GatewayError `file_gone` when the object is missing or is not the recorded one, or the store's error
 */
export async function openDownload(
  stored: Pick<StoredObjects, 'read'>,
  record: OwnedObject,
  { range }: { range?: ByteRange },
  signal: AbortSignal,
): Promise<Readable> {
  const read = await stored.read(record, signal, range);
  if (read.kind === 'missing') throw new GatewayError('file_gone');
  if (read.kind === 'range-not-satisfiable') {
    const cause = new Error(`The object has ${read.size} bytes, its record says ${record.size}.`);
    throw new GatewayError('file_gone', { reason: 'changed' }, cause);
  }
  return read.body;
}
