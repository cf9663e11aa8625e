import { GatewayError } from '../errors.js';
import type { AcceptRule } from '../policy/message-limits.js';
import type { AuditCause } from '../ports/audit.js';
import type { FileClaims } from '../ports/file.js';
import type { FileRecord } from './file.js';
import { fill } from './ingest/fill.js';
import { Ingest, type IngestDeps, type Stored } from './ingest/ingest.js';
import type { Library } from './library.js';
import { fileNameFor } from './names/file-name.js';
import { extensionOf, mediaTypeOf, sniff } from './names/media-type.js';
import { checkResultType } from './names/result-type.js';
import { writtenAs } from './names/text-hint.js';

export interface StoreFileDeps {
  ingest: IngestDeps;
  library: Library;
}

interface FileToStore {
  bytes: AsyncIterable<Buffer>;
  claims: FileClaims;
  principal: string;
  /** Config name of the server it came from; absent for a file in a caller's call. */
  server?: string;
  /** Who has made the call, beside the principal. */
  by?: AuditCause | undefined;
  /** URI of the resource whose content it is. */
  resource?: string;
  /** The base of the name of a nameless file. */
  subject: string;
  /** The largest size, the setting behind it, and the file's place, for the error. */
  limit: { name: string; bytes: number; path: string };
  /** `acceptResults`, for a file of a server. */
  types?: readonly AcceptRule[] | undefined;
  /** Size and digest that were announced; other bytes are refused. */
  expect?: { size?: number; digest?: string };
}

/**
 * Stores bytes as a file with a record, a name and a type.
 * @throws GatewayError `file_too_large`, `file_type_refused`, `file_infected`, `upload_size_differs`, `upload_digest_differs`,
 * `audit_unavailable`, the stores' errors, and the error of reading the bytes
 */
export async function storeFile(file: FileToStore, deps: StoreFileDeps, signal: AbortSignal): Promise<FileRecord> {
  const ingest = new Ingest(deps.ingest, { owner: file, limit: file.limit, expected: file.expect?.size }, signal);
  let stored: Stored | undefined;
  try {
    await fill(ingest, file.bytes);
    const { head } = ingest;
    const sniffed = await sniff(head);
    checkResultType(file.types, { declared: file.claims.mimeType, sniffed }, file.limit.path);
    if (file.expect) check(ingest.seal(), file.expect);
    stored = await ingest.commit();
    const { claims, principal, server, by, resource, subject } = file;
    const name = fileNameFor({
      name: claims.name,
      uri: claims.uri,
      owner: subject,
      index: 1,
      ext: extensionOf(claims.mimeType, sniffed),
    });
    const mimeType = mediaTypeOf(claims.mimeType, sniffed);
    const about = {
      principal,
      ...(server === undefined ? { fromCall: true as const } : { server }),
      ...(resource !== undefined && { resource }),
      name,
      mimeType,
      ...writtenAs(mimeType, head),
    };
    return await deps.library.publish(stored, about, { subject: resource ?? subject, by });
  } catch (error) {
    if (stored) deps.library.discardUnrecorded({ key: stored.key, principal: file.principal });
    ingest.abort();
    throw error;
  }
}

function check(actual: { size: number; digest: string }, expected: { size?: number; digest?: string }): void {
  if (expected.size !== undefined && actual.size !== expected.size) {
    const facts = { reason: 'sizeMismatch', allowed: expected.size, actual: actual.size };
    throw new GatewayError('upload_size_differs', facts);
  }
  if (expected.digest !== undefined && actual.digest !== expected.digest) {
    throw new GatewayError('upload_digest_differs', { reason: 'digestMismatch' });
  }
}
