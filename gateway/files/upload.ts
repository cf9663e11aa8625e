import { randomBytes } from 'node:crypto';
import { GatewayError } from '../errors.js';
import type { Clock } from '../ports/clock.js';
import type { FileRecord } from './file.js';
import { newFileId, objectKey } from './handle.js';
import { fill } from './ingest/fill.js';
import { Ingest, type IngestDeps } from './ingest/ingest.js';
import type { Library } from './library.js';
import { fileNameFor } from './names/file-name.js';
import { extensionOf, sniff } from './names/media-type.js';
import { uploadedType } from './names/upload-type.js';
import type { Tickets } from './ticket.js';
import { checkIntent, largestUpload, tooLarge, type UploadIntent } from './upload-intent.js';

export interface UploadsDeps {
  ingest: IngestDeps;
  library: Library;
  tickets: Tickets;
  clock: Clock;
  settings: {
    /** How clients reach Wharf, without a slash at the end; known once the port is. */
    publicUrl: () => string;
    ttlMs: number;
    /** `limits.file`. */
    fileLimit: number;
    /** How long a file lives, and hence the longest that one try to upload it may take. */
    retentionMs: number;
  };
}

/**
 * Tries at one time for one ticket, in one process. One is enough for an honest client; a second one comes when its
 * first connection broke and only Wharf does not know yet.
 */
const MOST_TRIES = 4;

/** The right to one upload: the handle of the file to come, and where its bytes go. */
export interface Authorization {
  id: string;
  uri: string;
  ticket: string;
  url: string;
  /** RFC 3339. */
  expiresAt: string;
}

/** An upload that may begin. */
export interface Admission {
  fileId: string;
  intent: UploadIntent;
  expiresAt: number;
  /** The most bytes that will be taken, and the name of what says so. */
  largest: { limit: string; allowed: number };
}

export type UploadState = ({ kind: 'open' } & Admission) | { kind: 'done' } | { kind: 'expired' } | { kind: 'unknown' };

/** Bytes on their way in. */
export interface UploadBody {
  /** Ends only when the whole body has arrived and was in order; throws a GatewayError otherwise. */
  bytes: AsyncIterable<Buffer>;
  /** What the body says of the file; asked when its bytes have ended. `digests` are as in `UploadIntent`. */
  claims(): { name?: string | undefined; mimeType?: string | undefined; digests?: readonly string[] };
}

/** Files from clients: a ticket is handed out, and stores at most one file over however many tries. */
export class Uploads {
  readonly #deps: UploadsDeps;
  /** Tries under way, by the id of the file to come. */
  readonly #tries = new Map<string, number>();

  constructor(deps: UploadsDeps) {
    this.#deps = deps;
  }

  /** @throws GatewayError `upload_invalid`, `upload_too_large`, or what the state store failed with */
  async authorize(intent: UploadIntent): Promise<Authorization> {
    const { library, tickets, clock, settings } = this.#deps;
    checkIntent(intent, settings.fileLimit);
    const id = newFileId();
    const expiresAt = clock.now() + settings.ttlMs;
    const uri = await library.expect(id, intent.principal, expiresAt);
    const ticket = await tickets.mintUpload(id, intent, expiresAt);
    const url = `${settings.publicUrl()}/u/${ticket}`;
    return { id, uri, ticket, url, expiresAt: new Date(expiresAt).toISOString() };
  }

  /** What a ticket is good for, without using it up. */
  async inspect(ticket: string): Promise<UploadState> {
    const { tickets, library, settings } = this.#deps;
    const found = await tickets.findUpload(ticket);
    if (!found) return { kind: 'unknown' };
    const { fileId, intent, expiresAt, isExpired } = found;
    if (await library.hasBeenStored(fileId)) return { kind: 'done' };
    if (isExpired) return { kind: 'expired' };
    return { kind: 'open', fileId, intent, expiresAt, largest: largestUpload(intent, settings.fileLimit) };
  }

  /** @throws GatewayError `link_unknown`, `link_expired`, `upload_done` */
  async admit(ticket: string): Promise<Admission> {
    const state = await this.inspect(ticket);
    switch (state.kind) {
      case 'open':
        return state;
      case 'done':
        throw done();
      case 'expired':
        throw expired();
      case 'unknown':
        throw new GatewayError('link_unknown', { reason: 'fileNotFound' });
    }
  }

  /**
   * Stores one file. Nothing is claimed while its bytes come in, so a try that fails leaves the ticket as it was; of
   * tries that succeed at one time the first to make the record keeps its bytes, and the others' are removed.
   * @returns the record, once it and its bytes are stored
   * @throws GatewayError `upload_busy`, what the body or the stores fail with, or what is wrong with the file
   */
  async receive(admission: Admission, body: UploadBody, signal: AbortSignal): Promise<FileRecord> {
    const { fileId } = admission;
    const tries = (this.#tries.get(fileId) ?? 0) + 1;
    if (tries > MOST_TRIES) throw new GatewayError('upload_busy', { reason: 'tooManyTries', allowed: MOST_TRIES });
    this.#tries.set(fileId, tries);
    try {
      return await this.#receive(admission, body, signal);
    } finally {
      const left = (this.#tries.get(fileId) ?? 1) - 1;
      if (left > 0) this.#tries.set(fileId, left);
      else this.#tries.delete(fileId);
    }
  }

  async #receive(admission: Admission, body: UploadBody, signal: AbortSignal): Promise<FileRecord> {
    const { library, clock, settings } = this.#deps;
    const { fileId, intent } = admission;
    const startedAt = clock.now();
    const key = objectKey(fileId, randomBytes(16).toString('base64url'));
    const limit = { name: 'limits.file', bytes: settings.fileLimit, path: 'the upload' };
    const ingest = new Ingest(this.#deps.ingest, { principal: intent.principal }, limit, signal, { id: fileId, key });
    let record: FileRecord;
    try {
      await fill(ingest, body.bytes, sizeCheck(admission));
      const { size, digest } = checkBytes(ingest, intent, body.claims().digests ?? []);
      record = {
        ...(await describe(ingest.head, body, intent)),
        id: fileId,
        key,
        size,
        digest,
        createdAt: clock.now(),
      };
      // A try that outlasts a file's whole life could no longer see that there was one.
      if (clock.now() - startedAt >= settings.retentionMs) throw expired();
      // Not what decides, but it spares the store most of the bytes that come second.
      if (await library.hasBeenStored(fileId)) throw done();
      await ingest.commit();
    } catch (error) {
      ingest.abort();
      throw error;
    }
    // If this throws, the record may have been made all the same: then the object is the sweeper's to judge.
    if (await library.admit(record, admission.expiresAt)) return record;
    library.discard(key);
    throw done();
  }
}

/** Refuses what is longer than it may be before it is stored. */
function sizeCheck({ intent, largest }: Admission): (size: number) => void {
  return (size) => {
    if (intent.size !== undefined && size > intent.size) throw sizeDiffers(intent.size, size);
    if (size > largest.allowed) throw tooLarge(largest.limit, largest.allowed, size);
  };
}

function checkBytes(
  ingest: Ingest,
  intent: UploadIntent,
  digests: readonly string[],
): { size: number; digest: string } {
  const { size, digest } = ingest.seal();
  if (intent.size !== undefined && size !== intent.size) throw sizeDiffers(intent.size, size);
  if ([...digests, intent.digest ?? digest].some((said) => said !== digest))
    throw new GatewayError('upload_digest_differs', { reason: 'digestMismatch' });
  return { size, digest };
}

async function describe(
  head: Buffer,
  body: UploadBody,
  { principal, name: announcedName, mimeType: announced, accept }: UploadIntent,
): Promise<Pick<FileRecord, 'principal' | 'name' | 'mimeType'>> {
  const claims = body.claims();
  const sniffed = await sniff(head);
  const given = announcedName ?? claims.name;
  const mimeType = uploadedType({ announced, declared: claims.mimeType, sniffed, name: given, accept });
  const name = fileNameFor({ name: given, owner: 'upload', index: 1, ext: extensionOf(mimeType, sniffed) });
  return { principal, name, mimeType };
}

function sizeDiffers(allowed: number, actual: number): GatewayError {
  return new GatewayError('upload_size_differs', { reason: 'sizeMismatch', allowed, actual });
}

function done(): GatewayError {
  return new GatewayError('upload_done', { reason: 'alreadyUploaded' });
}

function expired(): GatewayError {
  return new GatewayError('link_expired', { reason: 'fileExpired' });
}
