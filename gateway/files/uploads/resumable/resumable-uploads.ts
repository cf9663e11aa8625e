import { GatewayError } from '../../../errors.js';
import { isAnyType } from '../../../policy/accept.js';
import type { FileRecord } from '../../file.js';
import { parseMediaType } from '../../names/media-type.js';
import { uploadedType } from '../../names/upload-type.js';
import { type Noted, newName, type Progress, takenOver } from '../../tickets/progress.js';
import type { Tickets } from '../../tickets/ticket.js';
import { tooLarge, type UploadIntent } from '../../tickets/upload-intent.js';
import type { Admission, UploadLinks } from '../upload-links.js';
import { sizeDiffers, uploadDone, uploadExpired } from '../uploaded.js';
import { Append, type AppendDeps, type Appended, type AppendResult } from './append.js';

interface ResumableUploadsDeps extends AppendDeps {
  uploadLinks: Pick<UploadLinks, 'find'>;
  tickets: Pick<Tickets, 'keep' | 'noteOpened'>;
  settings: AppendDeps['settings'] & {
    /** `timeouts.upload`. */
    uploadMs: number;
  };
}

/** What a client declares about a file before it sends it. */
export interface Announced {
  /** Bytes. */
  length: number;
  /** The declaration itself, unchanged. */
  metadata?: string | undefined;
  name?: string | undefined;
  mimeType?: string | undefined;
}

/** A running upload. */
export interface UnderWay {
  admission: Admission;
  noted: Noted;
}

/**
 * Reads a request's bytes.
 * @param until aborts when reading must stop
 * @param take takes them until `signal` aborts, at the latest with `until`
 */
type Receive = (
  until: AbortSignal,
  take: (appended: Appended, signal: AbortSignal) => Promise<AppendResult>,
) => Promise<AppendResult>;

/** A request that adds to an upload in this process. */
interface Running {
  interrupt: (why: GatewayError) => void;
  ended: Promise<void>;
}

/** Stores remove unfinished writes a day after their beginning: S3 by its lifecycle rule, the others by the sweep. */
const LONGEST_MS = 23 * 60 * 60 * 1000;

/** Uploads that may be interrupted, and continued on any replica. A ticket has one of them at a time. */
export class ResumableUploads {
  readonly #deps: ResumableUploadsDeps;
  /** The latest request, by the id of the future file. */
  readonly #running = new Map<string, Running>();
  /** Wharf shuts down. */
  #isStopped = false;

  constructor(deps: ResumableUploadsDeps) {
    this.#deps = deps;
  }

  /**
   * The right to begin an upload.
   * @throws GatewayError `link_unknown`, `link_expired`, `upload_done`, `upload_cancelled`
   */
  async admit(ticket: string): Promise<Admission> {
    const { isExpired, isRevoked: _, isLocked: __, ...admission } = await this.#ticket(ticket);
    if (isExpired) throw uploadExpired();
    await this.#deps.tickets.noteOpened(ticket);
    return admission;
  }

  /**
   * Begins an upload, which ends the previous one with the same ticket.
   * @throws GatewayError `upload_too_large`, `upload_size_differs`, `upload_type_refused`
   */
  async begin(ticket: string, admission: Admission, announced: Announced): Promise<UnderWay> {
    const { notes, tickets, clock, settings } = this.#deps;
    const { fileId, intent, largest } = admission;
    const { length, metadata, name, mimeType } = announced;
    if (length > largest.allowed) throw tooLarge(largest, length);
    if (intent.size !== undefined && length !== intent.size) throw sizeDiffers(intent.size, length);
    checkDeclared(intent, announced);
    await this.#deps.account.fits(intent.principal, length);
    await this.#interrupt(fileId);
    const createdAt = clock.now();
    const longest = Math.min(LONGEST_MS, settings.retentionMs);
    const expiresAt = Math.min(createdAt + longest, Math.max(admission.expiresAt, createdAt + settings.uploadMs));
    const progress: Progress = {
      id: newName(),
      claim: newName(),
      length,
      offset: 0,
      ...(metadata !== undefined && { metadata }),
      ...(name !== undefined && { name }),
      ...(mimeType !== undefined && { mimeType }),
      createdAt,
      expiresAt,
    };
    await tickets.keep(ticket, expiresAt);
    const { principal, purpose } = intent;
    const { noted, before } = await notes.begin(fileId, progress, { principal, server: purpose?.server });
    if (before) this.#discard(before.progress, principal);
    return { admission, noted };
  }

  /**
   * The running upload of a ticket, or the file that it became.
   * @param id of the wanted upload, if known
   * @throws GatewayError `link_unknown`, `link_expired`, `upload_cancelled`, `upload_unknown`
   */
  async find(ticket: string, id?: string): Promise<UnderWay | { record: FileRecord }> {
    const found = await this.#deps.uploadLinks.find(ticket);
    if (!found) throw unknownLink();
    if (found.isStored) {
      const record = await this.#deps.library.find(found.fileId);
      if (!record) throw uploadExpired();
      // the client of an upload that was ended must not take another one's file for its own
      if (id !== undefined && record.upload !== id) throw unknownUpload();
      return { record };
    }
    if (found.isRevoked) throw new GatewayError('upload_cancelled');
    if (found.isLocked) throw new GatewayError('upload_locked');
    return this.#underWay(found, id);
  }

  /** The running upload of a ticket that has no file yet. @throws GatewayError as `find`, and `upload_done` */
  async open(ticket: string, id?: string): Promise<UnderWay> {
    return this.#underWay(await this.#ticket(ticket), id);
  }

  /**
   * Adds bytes to an upload. A request that is already doing so is stopped, and its bytes count. It goes on where Wharf
   * has told the offset to no client: the request may have been sent twice.
   * @throws GatewayError `upload_offset_differs`, `upload_taken_over`, or the errors of `Append`, and `draining` after `stop`
   */
  async append({ admission, noted: { progress } }: UnderWay, offset: number, receive: Receive): Promise<AppendResult> {
    const { fileId } = admission;
    if (this.#isStopped) throw new GatewayError('draining');
    checkOffset(progress, offset);
    const interruption = new AbortController();
    const { promise: ended, resolve: end } = newPromise();
    const before = this.#running.get(fileId);
    const running = { interrupt: (why: GatewayError) => interruption.abort(why), ended };
    this.#running.set(fileId, running);
    try {
      before?.interrupt(takenOver());
      await before?.ended;
      interruption.signal.throwIfAborted();
      const noted = await this.#claim(fileId, progress.id, offset);
      return await receive(interruption.signal, (appended, signal) =>
        new Append(this.#deps, admission, noted, signal).run(appended),
      );
    } finally {
      end();
      if (this.#running.get(fileId) === running) this.#running.delete(fileId);
    }
  }

  /** Ends all requests that add to uploads: what they brought counts, and their clients go on at another replica. */
  stop(): void {
    this.#isStopped = true;
    for (const { interrupt } of this.#running.values()) interrupt(new GatewayError('draining'));
  }

  /** Ends an upload: nothing of it stays, and its ticket may be used again. */
  async end({ admission, noted: { progress } }: UnderWay): Promise<void> {
    const { fileId } = admission;
    await this.#interrupt(fileId);
    const noted = await this.#deps.notes.find(fileId);
    if (noted?.progress.id !== progress.id) return;
    if (!(await this.#deps.notes.end(fileId, noted))) throw takenOver();
    this.#discard(noted.progress, admission.intent.principal);
  }

  /** Ends whatever is under way with a ticket whose file is no longer wanted. */
  async drop(ticket: string): Promise<void> {
    const { uploadLinks, notes } = this.#deps;
    const admission = await uploadLinks.find(ticket);
    const noted = admission && (await notes.find(admission.fileId));
    if (admission && noted) await this.end({ admission, noted });
  }

  /** Ends what is under way for a file that has come in another way: no request can go on with it. Does not fail. */
  async passedBy({ id, principal }: Pick<FileRecord, 'id' | 'principal'>): Promise<void> {
    const { notes, log } = this.#deps;
    try {
      await this.#interrupt(id);
      const noted = await notes.find(id);
      if (noted && (await notes.end(id, noted))) this.#discard(noted.progress, principal);
    } catch (err) {
      // the sweep removes it a day after its beginning
      log.warn({ file: id, err }, 'could not end an upload whose file has come in another way');
    }
  }

  async #ticket(ticket: string): Promise<Admission & { isExpired: boolean; isRevoked: boolean; isLocked: boolean }> {
    const found = await this.#deps.uploadLinks.find(ticket);
    if (!found) throw unknownLink();
    const { isStored, ...rest } = found;
    if (isStored) throw uploadDone();
    if (rest.isRevoked) throw new GatewayError('upload_cancelled');
    if (rest.isLocked) throw new GatewayError('upload_locked');
    return rest;
  }

  async #underWay(found: Admission & { isExpired: boolean }, id: string | undefined): Promise<UnderWay> {
    const noted = await this.#deps.notes.find(found.fileId);
    if (noted && (id === undefined || noted.progress.id === id)) {
      if (noted.progress.expiresAt <= this.#deps.clock.now()) throw uploadExpired();
      return { admission: found, noted };
    }
    throw found.isExpired ? uploadExpired() : unknownUpload();
  }

  /** From here on, progress recorded by another request of the same upload comes too late. */
  async #claim(fileId: string, id: string, offset: number): Promise<Noted> {
    const { notes, library } = this.#deps;
    const noted = await notes.find(fileId);
    if (noted?.progress.id !== id) {
      // the request before, whose client has not waited for its answer, may have brought all of it
      throw (await library.hasBeenStored(fileId)) ? uploadDone() : unknownUpload();
    }
    checkOffset(noted.progress, offset);
    const claimed = await notes.replace(fileId, noted, { ...noted.progress, claim: newName() });
    if (!claimed) throw takenOver();
    return claimed;
  }

  async #interrupt(fileId: string): Promise<void> {
    const running = this.#running.get(fileId);
    running?.interrupt(takenOver());
    await running?.ended;
  }

  #discard({ key, place, isStored, offset, length, createdAt }: Progress, principal: string): void {
    const { account, ingest, library, writes } = this.#deps;
    if (key !== undefined && isStored) {
      library.discard(key, { principal, size: length, createdAt });
      return;
    }
    if (key === undefined || place === undefined) return;
    ingest.cleanUps.run(key, () => writes.discard(key, place));
    void account.released({ principal, size: offset, createdAt });
  }
}

/** Refuses a declared type that the argument does not accept: the bytes cannot make it acceptable. */
function checkDeclared({ mimeType: announced, name, accept, acceptBy }: UploadIntent, declared: Announced): void {
  const { mimeType } = declared;
  if (mimeType === undefined || parseMediaType(mimeType) === undefined || isAnyType(mimeType)) return;
  const types = { announced, declared: mimeType, accept, acceptBy };
  uploadedType({ ...types, sniffed: 'unread', name: name ?? declared.name });
}

/** @throws GatewayError `upload_offset_differs` */
function checkOffset({ offset: allowed }: Progress, actual: number): void {
  if (allowed !== actual)
    throw new GatewayError('upload_offset_differs', { reason: 'offsetMismatch', allowed, actual });
}

function unknownLink(): GatewayError {
  return new GatewayError('link_unknown', { reason: 'fileNotFound' });
}

function unknownUpload(): GatewayError {
  return new GatewayError('upload_unknown', { reason: 'uploadNotFound' });
}

function newPromise(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
