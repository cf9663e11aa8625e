import { GatewayError } from '../../errors.js';
import type { Clock } from '../../ports/clock.js';
import { randomBytes } from '../../random.js';
import type { FileAccount, FileRecord } from '../file.js';
import { newBundleId, newFileId, objectKey } from '../handles/handle.js';
import { fill } from '../ingest/fill.js';
import { Ingest, type IngestDeps } from '../ingest/ingest.js';
import type { Library } from '../library.js';
import type { RecentUses } from '../retention/recent-uses.js';
import type { ShortFiles } from '../stored/short-files.js';
import type { Tickets, UploadTicket } from '../tickets/ticket.js';
import type { Proof, UploadCodes } from '../tickets/upload-code.js';
import { checkIntent, largestUpload, tooLarge, type UploadBound, type UploadIntent } from '../tickets/upload-intent.js';
import { storeTogether } from './store-together.js';
import { checkSum, describeUpload, sizeDiffers, type UploadClaims, uploadDone, uploadExpired } from './uploaded.js';

interface UploadsDeps {
  ingest: IngestDeps;
  account?: Pick<FileAccount, 'admits'> | undefined;
  library: Library;
  tickets: Tickets;
  codes: UploadCodes;
  /** Keeps those that a call may be given at once. Without a record none can be. */
  shortFiles: Pick<ShortFiles, 'keep'>;
  uses: Pick<RecentUses, 'note'>;
  clock: Clock;
  settings: {
    /** How clients reach Wharf, without a trailing slash; known once the port is. */
    publicUrl: () => string;
    ttlMs: number;
    /** `limits.file` */
    fileLimit: () => number;
    /** How long a file lives, and therefore the longest that one attempt to upload it may take. */
    retentionMs: number;
    /** Whether links for people are used together with a code. */
    asksCodes: boolean;
  };
}

/**
 * Concurrent attempts with one ticket in one process. An honest client needs one; a second one comes when its first
 * connection broke and Wharf has not noticed yet.
 */
const MOST_TRIES = 4;

/** The right to one upload: the handle of the future file, and the address for its bytes. */
export interface Authorization {
  id: string;
  uri: string;
  ticket: string;
  url: string;
  /** RFC 3339. */
  expiresAt: string;
  /** The code that is needed besides the link. It is kept nowhere else. */
  code?: string;
}

/** An upload that may begin. */
export interface Admission {
  fileId: string;
  intent: UploadIntent;
  /** Milliseconds since the Unix epoch. */
  expiresAt: number;
  /** Most bytes that are accepted, and the name of the setting behind it. */
  largest: UploadBound;
}

/** What a ticket refers to, in any state. */
type FoundUpload = Admission & Omit<UploadTicket, keyof Admission> & { isStored: boolean; isLocked: boolean };

export type UploadState =
  | ({ kind: 'open' } & Admission)
  | { kind: 'done' }
  | { kind: 'expired' }
  | { kind: 'cancelled' }
  /** A wrong code was given too often. */
  | { kind: 'locked' }
  | { kind: 'unknown' };

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

  constructor(deps: UploadsDeps) {
    this.#deps = deps;
  }

  /**
   * Makes a link for one upload, and the handle under which it will be found.
   * @throws GatewayError `upload_invalid`, `upload_too_large`, or the state store's error
   */
  async authorize(intent: UploadIntent): Promise<Authorization> {
    const { tickets, codes, clock, settings } = this.#deps;
    checkIntent(intent, settings.fileLimit());
    const expiresAt = clock.now() + settings.ttlMs;
    const id = intent.several ? newBundleId() : newFileId();
    const made = settings.asksCodes && intent.isForPerson ? codes.make(id) : undefined;
    const [uri, ticket] = await Promise.all([
      this.#expect(id, intent, expiresAt),
      tickets.mintUpload(id, { ...intent, ...(made && { codeSeal: made.seal }) }, expiresAt),
    ]);
    const url = `${settings.publicUrl()}/u/${ticket}`;
    return { id, uri, ticket, url, expiresAt: new Date(expiresAt).toISOString(), ...(made && { code: made.code }) };
  }

  /** The handle of a future file, or of a future bundle of them. */
  #expect(id: string, { principal, purpose, several }: UploadIntent, until: number): Promise<string> {
    const { library } = this.#deps;
    return several
      ? library.bundles.begin(id, { principal, server: purpose?.server }, until)
      : library.expect(id, principal, until);
  }

  /** Ends a ticket early, because the file is no longer wanted. What has arrived of several files is removed. */
  async revoke(ticket: string): Promise<void> {
    const { tickets, library } = this.#deps;
    const found = await tickets.findUpload(ticket);
    await tickets.revokeUpload(ticket);
    if (!found?.intent.several) return;
    const { files = [] } = (await library.bundles.cancel(found.fileId)) ?? {};
    for (const id of files) {
      const record = await library.find(id);
      if (record) await library.withdraw(record);
    }
  }

  /** What an upload has brought: a file, or all files of a complete bundle; undefined before. */
  async given(id: string): Promise<FileRecord[] | undefined> {
    const { library } = this.#deps;
    const record = await library.find(id);
    return record ? [record] : library.bundles.filesOf(id);
  }

  /** What has become of a link that a call waits for; undefined once it is forgotten. */
  link(ticket: string): Promise<Pick<UploadTicket, 'intent' | 'isOpened' | 'isRevoked'> | undefined> {
    return this.#deps.tickets.findUpload(ticket);
  }

  /** A user has opened the page of a link. */
  opened(ticket: string): Promise<void> {
    return this.#deps.tickets.noteOpened(ticket);
  }

  /** A link with all that is known of it: more reads of the state store than `link`. Undefined once it is forgotten. */
  async find(ticket: string): Promise<FoundUpload | undefined> {
    const { tickets, codes, settings } = this.#deps;
    const found = await tickets.findUpload(ticket);
    if (!found) return undefined;
    const { isStored, isRevoked } = await this.#fate(found);
    const isLocked = found.intent.codeSeal !== undefined && (await codes.isLocked(found.fileId));
    return { ...found, isStored, isRevoked, isLocked, largest: largestUpload(found.intent, settings.fileLimit()) };
  }

  /** A ticket for several files has the fate of their bundle, and so has the ticket of a file in it. */
  async #fate({ fileId, intent, isRevoked }: UploadTicket): Promise<{ isStored: boolean; isRevoked: boolean }> {
    const { library } = this.#deps;
    const bundleId = intent.several ? fileId : intent.bundle;
    const bundle = bundleId === undefined ? undefined : await library.bundles.find(bundleId);
    const isCancelled = isRevoked || bundle?.status === 'cancelled';
    if (intent.several) return { isStored: bundle?.status === 'complete', isRevoked: isCancelled };
    const isStored = await library.hasBeenStored(fileId);
    const isLeftOut = bundle !== undefined && (bundle.status !== 'open' || !bundle.files.includes(fileId));
    return { isStored, isRevoked: isCancelled || (!isStored && isLeftOut) };
  }

  /** The state of a ticket, without using it up. */
  async inspect(ticket: string): Promise<UploadState> {
    return stateOf(await this.find(ticket));
  }

  /**
   * Lets an upload begin; the page that may be waiting for its user then counts as opened.
   * @throws GatewayError `link_unknown`, `link_expired`, `upload_done`, `upload_cancelled`, `upload_locked`
   */
  async admit(ticket: string): Promise<Admission> {
    const found = await this.find(ticket);
    const state = stateOf(found);
    switch (state.kind) {
      case 'open':
        // a program, which needs no page, has the link
        await this.#deps.tickets.noteOpened(ticket, found?.written);
        return state;
      case 'done':
        throw uploadDone();
      case 'expired':
        throw uploadExpired();
      case 'cancelled':
        throw new GatewayError('upload_cancelled');
      case 'locked':
        throw new GatewayError('upload_locked');
      case 'unknown':
        throw new GatewayError('link_unknown', { reason: 'fileNotFound' });
    }
  }

  /** Whether a request must still give the link's code. */
  needsCode({ fileId, intent }: Admission, { pass }: Proof): boolean {
    if (intent.codeSeal === undefined) return false;
    return pass === undefined || !this.#deps.codes.isPass(fileId, pass);
  }

  /**
   * Lets a request go on that gives the link's code, if it has one, or has given it before.
   * @returns what a browser is given, so that its person need not give the code again
   * @throws GatewayError `upload_code_needed`, `upload_code_wrong`, `upload_locked`
   */
  async prove(admission: Admission, proof: Proof): Promise<string> {
    const { fileId, intent, expiresAt } = admission;
    const { codes } = this.#deps;
    const { codeSeal, principal, purpose } = intent;
    if (codeSeal !== undefined && this.needsCode(admission, proof)) {
      if (proof.code === undefined) throw new GatewayError('upload_code_needed');
      const owner = { principal, server: purpose?.server };
      await codes.check({ fileId, codeSeal, expiresAt, owner }, proof.code);
    }
    return codes.pass(fileId);
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
      storeTogether({ bundle, several, expiresAt }, bodies, store, this.#deps.library),
    );
  }

  async #counted<Result>({ fileId }: Admission, work: () => Promise<Result>): Promise<Result> {
    const tries = (this.#tries.get(fileId) ?? 0) + 1;
    if (tries > MOST_TRIES) throw new GatewayError('upload_busy', { reason: 'tooManyTries', allowed: MOST_TRIES });
    this.#tries.set(fileId, tries);
    try {
      return await work();
    } finally {
      const left = (this.#tries.get(fileId) ?? 1) - 1;
      if (left > 0) this.#tries.set(fileId, left);
      else this.#tries.delete(fileId);
    }
  }

  async #receive(admission: Admission, body: UploadBody, signal: AbortSignal): Promise<FileRecord> {
    const { library } = this.#deps;
    const record = await this.#store(admission, body, signal);
    // If this throws, the record may still have been made: the sweeper then judges the object.
    if (await library.admit(record, admission.expiresAt)) return this.#stored(record);
    library.discardUnrecorded(record);
    throw uploadDone();
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
      await this.#deps.account?.admits(intent.principal, about.mimeType);
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

function stateOf(found: FoundUpload | undefined): UploadState {
  if (!found) return { kind: 'unknown' };
  const { fileId, intent, expiresAt, largest } = found;
  if (found.isStored) return { kind: 'done' };
  if (found.isRevoked) return { kind: 'cancelled' };
  if (found.isLocked) return { kind: 'locked' };
  return found.isExpired ? { kind: 'expired' } : { kind: 'open', fileId, intent, expiresAt, largest };
}

/** Refuses a file that is too long before it is stored. */
function sizeCheck({ intent, largest }: Admission): (size: number) => void {
  return (size) => {
    if (intent.size !== undefined && size > intent.size) throw sizeDiffers(intent.size, size, true);
    if (size > largest.allowed) throw tooLarge(largest, size, true);
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
