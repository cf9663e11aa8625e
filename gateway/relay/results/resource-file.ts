import type { FileRecord } from '../../files/file.js';
import type { IngestDeps } from '../../files/ingest/ingest.js';
import type { Library } from '../../files/library.js';
import { checkResultType } from '../../files/names/result-type.js';
import { storeFile } from '../../files/store-file.js';
import { isObject } from '../../json/value.js';
import type { ExchangeLimits } from '../../policy/message-limits.js';
import type { FileClaims } from '../../ports/file.js';
import type { JsonObject } from '../../ports/json.js';
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
  signal: AbortSignal;
}

/**
 * Makes a file of the first content of a `resources/read`.
 * @param known what is known about it from elsewhere
 * @returns undefined when it has none
 */
export async function resultAsFile(
  { contents }: JsonObject,
  reader: ResourceReader,
  deps: ResourceFileDeps,
  known: FileClaims,
): Promise<FileRecord | undefined> {
  if (!Array.isArray(contents)) return undefined;
  const item = contents.find((candidate): candidate is JsonObject => isObject(candidate));
  return item && contentAsFile(item, reader, deps, known);
}

/**
 * Makes a file of a resource's content.
 * @param known what is known about it from elsewhere
 * @returns undefined when it has none
 */
export async function contentAsFile(
  item: JsonObject,
  { principal, signal }: ResourceReader,
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
