import { GatewayError } from '../../errors.js';
import type { FileRecord } from '../../files/file.js';
import type { IngestDeps } from '../../files/ingest/ingest.js';
import type { Library } from '../../files/library.js';
import { checkResultType } from '../../files/names/result-type.js';
import { storeFile } from '../../files/store-file.js';
import { isObject } from '../../json/value.js';
import type { ExchangeLimits } from '../../policy/message-limits.js';
import type { AuditCause } from '../../ports/audit.js';
import type { FileClaims } from '../../ports/file.js';
import type { JsonObject, JsonValue } from '../../ports/json.js';
import { decodeTolerantBase64 } from '../../wire/base64/decode-text.js';
import { FILE_ERROR_META_KEY } from '../cut/places.js';

interface ResourceFileDeps {
  ingest: IngestDeps;
  library: Library;
  server: string;
  limits: ExchangeLimits;
}

/** Whose file it becomes. */
interface ResourceReader {
  principal: string;
  /** For the audit log. */
  by?: AuditCause | undefined;
  signal: AbortSignal;
}

/**
 * The content that a `resources/read` asked for: of several, the first with that URI. A server may give what is in a
 * folder, or a note beside the file: each of those is another file.
 * @returns its index; undefined when none is it
 */
export function askedIn(contents: JsonValue | undefined, uri: string): number | undefined {
  if (!Array.isArray(contents)) return undefined;
  const items = [...contents.entries()].filter(([, item]) => isObject(item));
  const named = items.find(([, item]) => isObject(item) && item.uri === uri);
  return (named ?? (items.length === 1 ? items[0] : undefined))?.[0];
}

/** Says of a `resources/read` why none of its contents is the one. */
function noneAsked(contents: JsonValue | undefined): string {
  const count = Array.isArray(contents) ? contents.filter(isObject).length : 0;
  return count === 0
    ? 'it gave no content for this resource'
    : `it gave ${count} contents for this resource, and none of them has its URI`;
}

/**
 * Makes a file of the content that a `resources/read` asked for.
 * @param known what is known about it from elsewhere
 * @returns undefined when it has none
 * @throws GatewayError `upstream_invalid` when none of its contents is the one
 */
export async function resultAsFile(
  { contents }: JsonObject,
  reader: ResourceReader,
  deps: ResourceFileDeps,
  known: FileClaims & { uri: string },
): Promise<FileRecord | undefined> {
  const index = askedIn(contents, known.uri);
  const item = Array.isArray(contents) && index !== undefined ? contents[index] : undefined;
  if (!isObject(item)) throw new GatewayError('upstream_invalid', { reason: noneAsked(contents) });
  return contentAsFile(item, reader, deps, known);
}

/**
 * Makes a file of a resource's content.
 * @param known what is known about it from elsewhere
 * @returns undefined when it has none
 */
export async function contentAsFile(
  item: JsonObject,
  { principal, by, signal }: ResourceReader,
  { ingest, library, server, limits }: ResourceFileDeps,
  known: FileClaims,
): Promise<FileRecord | undefined> {
  refuseLeftOut(item, limits);
  const bytes = bytesOf(item);
  const isBytes = typeof item.blob === 'string';
  if (!bytes) return undefined;
  const { mimeType } = item;
  const file = {
    bytes: piecesOf(bytes),
    claims: { ...known, ...(typeof mimeType === 'string' && { mimeType }) },
    principal,
    server,
    by,
    subject: 'resource',
    limit: { name: 'limits.file', bytes: limits.file, path: 'the resource' },
    ...(isBytes && { types: limits.acceptResults }),
  };
  return storeFile(file, { ingest, library }, signal);
}

/** A text that stands for a refused file is not a file. */
function refuseLeftOut({ _meta }: JsonObject, { acceptResults }: ExchangeLimits): void {
  const facts = isObject(_meta) ? _meta[FILE_ERROR_META_KEY] : undefined;
  if (!isObject(facts) || typeof facts.actualType !== 'string') return;
  checkResultType(acceptResults, { declared: facts.actualType, sniffed: undefined }, 'the resource');
}

function bytesOf({ text, blob }: JsonObject): Buffer | undefined {
  if (typeof blob === 'string') return decodeTolerantBase64(blob) ?? undefined;
  return typeof text === 'string' ? Buffer.from(text) : undefined;
}

async function* piecesOf(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}
