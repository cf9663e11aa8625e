import { GatewayError, SOON_S } from '../../errors.js';
import type { Clock } from '../../ports/clock.js';
import { randomBytes } from '../../random.js';
import type { FileAccount, FileRecord } from '../file.js';
import { newFileId, objectKey } from '../handles/handle.js';
import { fill } from '../ingest/fill.js';
import { Ingest, type IngestDeps } from '../ingest/ingest.js';
import type { Library } from '../library.js';
import type { RecentUses } from '../retention/recent-uses.js';
import type { ShortFiles } from '../stored/short-files.js';
import { tooLarge, type UploadIntent } from '../tickets/upload-intent.js';
import type { Arrivals } from './arrivals.js';
import { storeTogether } from './store-together.js';
import type { Admission } from './upload-links.js';
import {
  checkSum,
  describeUpload,
  notAdmitted,
  sizeDiffers,
  type UploadClaims,
  uploadDone,
  uploadExpired,
} from './uploaded.js';

interface UploadsDeps {
  ingest: IngestDeps;
  account: Pick<FileAccount, 'admits'>;
  library: Library;
  /** Keeps those that a call may be given at once. Without a record none can be. */
  shortFiles: Pick<ShortFiles, 'keep'>;
  uses: Pick<RecentUses, 'note'>;
  arrivals: Pick<Arrivals, 'begin'>;
  clock: Clock;
  settings: {
    /** `limits.file` */
    fileLimit: () => number;
    /** How long a file lives, and therefore the longest that one attempt to upload it may take. */
    retentionMs: number;
  };
}

/**
 * Concurrent attempts with one ticket in one process. An honest client needs one; a second one comes when its first
 * connection broke and Wharf has not noticed yet.
 */
const MOST_TRIES = 4;

/** Arriving bytes. */
export interface UploadBody {
  /** Ends only when the whole body has arrived and is valid; throws a GatewayError otherwise. */
  bytes: AsyncIterable<Buffer>;
  /** Bytes of the file, where the request says that before them. */
  size?: number | undefined;
  /** What the body says about the file; called after its bytes have ended. */
  claims(): UploadClaims;
}

/** Files from clients: a ticket stores at most one file, or one bundle of them, over any number of attempts. */
export class Uploads {
  readonly #deps: UploadsDeps;
  /** Running attempts, by the id of the future file. */
  readonly #tries = new Map<string, number>();
  /** What ends the marks of those that are places of several. */
  readonly #marked = new Map<string, () => void>();

  constructor(deps: UploadsDeps) {
    this.#deps = deps;
  }

  /** Whether bytes of a future file are on their way to this process. */
  isReceiving(fileId: string): boolean {
    return this.#tries.has(fileId);
  }

  /**
   * Stores one file. Nothing is reserved while its bytes arrive, so a failed attempt leaves the ticket as it was. Of
   * concurrent successful attempts the first to make the record keeps its bytes; the others' are removed.
   * @returns the record, once it and its bytes are stored
   * @throws GatewayError `upload_busy`, the error of the body or the stores, or a fault of the file
   */
  async receive(admission: Admission, body: UploadBody, signal: AbortSignal): Promise<FileRecord> {
    return this.#counted(admission, () => this.#receive(admission, body, signal));
  }

  /**
   * Stores several files that come together, and completes their bundle with them: all of them, or none.
   * @returns the records of all files in the bundle
   * @throws GatewayError as `receive`, and `upload_several_refused`
   */
  async receiveAll(
    admission: Admission,
    bodies: AsyncIterable<UploadBody>,
    signal: AbortSignal,
  ): Promise<FileRecord[]> {
    const { fileId: bundle, intent, expiresAt } = admission;
    const { several = { least: 1, most: 1 } } = intent;
    const store = (body: UploadBody) => this.#store({ ...admission, fileId: newFileId() }, body, signal);
    return this.#counted(admission, () =>
      storeTogether({ bundle, principal: intent.principal, several, expiresAt }, bodies, store, this.#deps.library),
    );
  }

  async #counted<Result>({ fileId, intent }: Admission, work: () => Promise<Result>): Promise<Result> {
    const tries = (this.#tries.get(fileId) ?? 0) + 1;
    if (tries > MOST_TRIES)
      throw new GatewayError('upload_busy', { reason: 'tooManyTries', allowed: MOST_TRIES, retryAfter: SOON_S });
    this.#tries.set(fileId, tries);
    // other replicas would give a place of several to another file
    const { bundle, principal } = intent;
    if (bundle !== undefined && tries === 1) this.#marked.set(fileId, this.#deps.arrivals.begin(fileId, { principal }));
    try {
      return await work();
    } finally {
      const left = (this.#tries.get(fileId) ?? 1) - 1;
      if (left > 0) this.#tries.set(fileId, left);
      else {
        this.#tries.delete(fileId);
        this.#marked.get(fileId)?.();
        this.#marked.delete(fileId);
      }
    }
  }

  async #receive(admission: Admission, body: UploadBody, signal: AbortSignal): Promise<FileRecord> {
    const { library } = this.#deps;
    const record = await this.#store(admission, body, signal);
    // If this throws, the record may still have been made: the sweeper then judges the object.
    if (await library.admit(record, admission.expiresAt)) return this.#stored(record);
    library.discardUnrecorded(record);
    throw await notAdmitted(record.id, library);
  }

  /** Its life begins now, so a call that uses it at once need not extend it. */
  #stored(record: FileRecord): FileRecord {
    this.#deps.uses.note(record.id);
    return record;
  }

  /** Stores bytes, which only their record makes a file. @returns that record */
  async #store(admission: Admission, body: UploadBody, signal: AbortSignal): Promise<FileRecord> {
    const { library, clock, settings } = this.#deps;
    const { fileId, intent } = admission;
    const startedAt = clock.now();
    const key = objectKey(fileId, randomBytes(16).toString('base64url'));
    const limit = { name: 'limits.file', bytes: settings.fileLimit(), path: 'the upload' };
    const ingest = new Ingest(
      this.#deps.ingest,
      { owner: { principal: intent.principal }, limit, place: { id: fileId, key }, expected: body.size ?? intent.size },
      signal,
    );
    try {
      await fill(ingest, body.bytes, sizeCheck(admission));
      const { size, digest } = checkBytes(ingest, intent, body.claims().digests ?? []);
      const about = await describeUpload(ingest.head, body.claims(), intent);
      await this.#deps.account.admits(intent.principal, about.mimeType);
      const record = {
        ...about,
        id: fileId,
        key,
        size,
        digest,
        createdAt: clock.now(),
      };
      // An attempt that outlasts a file's whole life could no longer see that the file existed.
      if (clock.now() - startedAt >= settings.retentionMs) throw uploadExpired();
      // This does not decide, but it spares the store most of the bytes that come second.
      if (await library.hasBeenStored(fileId)) throw uploadDone();
      const bytes = ingest.inMemory;
      if (bytes) this.#deps.shortFiles.keep(record, bytes);
      const { scan, mark } = await ingest.commit();
      return { ...record, ...(mark !== undefined && { mark }), ...(scan && { scan }) };
    } catch (error) {
      ingest.abort();
      throw error;
    }
  }
}

/** Refuses a file that is too long before it is stored. */
function sizeCheck({ intent, largest }: Admission): (size: number) => void {
  return (size) => {
    if (intent.size !== undefined && size > intent.size) throw sizeDiffers(intent.size, size, { isSoFar: true });
    if (size > largest.allowed) throw tooLarge(largest, size, { isSoFar: true });
  };
}

function checkBytes(
  ingest: Ingest,
  intent: UploadIntent,
  digests: readonly string[],
): { size: number; digest: string } {
  const { size, digest } = ingest.seal();
  if (intent.size !== undefined && size !== intent.size) throw sizeDiffers(intent.size, size);
  checkSum(digest, intent, digests);
  return { size, digest };
}
