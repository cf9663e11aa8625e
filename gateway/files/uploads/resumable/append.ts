import { createHash } from 'node:crypto';
import { asGatewayError, GatewayError } from '../../../errors.js';
import type { Clock } from '../../../ports/clock.js';
import type { Log } from '../../../ports/log.js';
import type { ResumableWriter, ResumableWrites, ResumedWrite } from '../../../ports/object-store.js';
import type { CountedFile, FileAccount, FileRecord } from '../../file.js';
import { objectKey } from '../../handles/handle.js';
import { fill } from '../../ingest/fill.js';
import { Ingest, type IngestDeps } from '../../ingest/ingest.js';
import type { Library } from '../../library.js';
import { SNIFF_BYTES } from '../../names/media-type.js';
import type { Kept } from '../../tap.js';
import { type Noted, newName, type Progress, type ProgressNotes, takenOver } from '../../tickets/progress.js';
import { tooLarge } from '../../tickets/upload-intent.js';
import type { Admission } from '../upload-links.js';
import { checkSum, describeUpload, notAdmitted, uploadExpired } from '../uploaded.js';
import { OneWrite } from './one-write.js';

export interface AppendDeps {
  ingest: IngestDeps;
  account: Pick<FileAccount, 'fits' | 'admits' | 'released'>;
  writes: ResumableWrites;
  library: Library;
  notes: ProgressNotes;
  clock: Clock;
  log: Log;
  settings: {
    /** How long a file lives, and therefore the longest that an upload of it may take. */
    retentionMs: number;
  };
}

/** The bytes of one request. */
export interface Appended {
  bytes: AsyncIterable<Buffer>;
  /**
   * Present when their checksum is known: checks them at their end. Until then none of them count.
   * @throws GatewayError `upload_checksum_differs`
   */
  checked?: (() => void) | undefined;
}

/** The upload's new offset, and the file once it is complete. */
export interface AppendResult {
  offset: number;
  record?: FileRecord;
}

/** Bytes between two records of progress: about what is sent again when the process is killed. */
const NOTED_BYTES = 8 * 1024 * 1024;

/**
 * S3 has parts of at least 5 MiB, so that what is shorter is stored again with each request. One byte in each of them
 * would cost ten million times what was sent. Pieces of 256 KiB cost about ten times what was sent.
 */
const MOST_MOVED_TIMES = 16;
const MOST_MOVED_MORE = 32 * 1024 * 1024;

const NO_BYTES = Buffer.alloc(0);

/** Saving must not end with the request that sent the bytes. */
const NEVER = new AbortController().signal;

/**
 * What one request adds to an upload. Its bytes pass through an ingest like all others, but into an object that later
 * requests continue: when the request ends, or breaks off, the bytes so far are made durable and recorded, and only
 * then acknowledged. The last byte completes the object, which becomes the file of its ticket.
 */
export class Append {
  readonly #deps: AppendDeps;
  readonly #admission: Admission;
  readonly #signal: AbortSignal;
  #noted: Noted;
  /** Progress has been recorded, or may have been: the stored bytes are then not this request's alone. */
  #isShared = false;
  #isFinished = false;
  /** A place may have been recorded, or not: the state store has not answered. */
  #isUnsure = false;
  /** Another request continues the upload. */
  #isLost = false;

  /** @param noted the upload's progress, claimed by this request */
  constructor(deps: AppendDeps, admission: Admission, noted: Noted, signal: AbortSignal) {
    this.#deps = deps;
    this.#admission = admission;
    this.#noted = noted;
    this.#signal = signal;
  }

  /**
   * @throws GatewayError the error of the body or the stores, a fault of the file, `upload_taken_over`,
   * `upload_unknown`, `upload_done`, `upload_pieces_too_small`
   */
  async run(appended: Appended): Promise<AppendResult> {
    const { key = objectKey(this.#admission.fileId, newName()), place: left, isStored } = this.#progress;
    if (isStored) return this.#recover(key);
    this.#isShared = left !== undefined;
    const resumed =
      left === undefined
        ? { writer: await this.#deps.writes.begin(key, NEVER), rest: NO_REST, restSize: 0 }
        : await this.#deps.writes.resume(key, left, NEVER);
    if (!resumed) return this.#recover(key);
    const write = new OneWrite(resumed.writer);
    const objects = { ...this.#deps.ingest.objects, create: async () => write };
    const { principal } = this.#admission.intent;
    const limit = { name: 'limits.file', bytes: this.#progress.length, path: 'the upload' };
    const place = { id: this.#admission.fileId, key };
    // a scan cannot go on in another request: the whole object is scanned, before it has a record
    const deps = { ...this.#deps.ingest, objects, antivirus: undefined };
    const continued = left === undefined ? undefined : resumed.restSize;
    const expected = this.#progress.length - this.#progress.offset + resumed.restSize;
    const ingest = new Ingest(
      deps,
      { owner: { principal }, limit, place, continued, expected, countedAt: this.#progress.createdAt },
      this.#signal,
    );
    try {
      const moved = await this.#moved(key, resumed);
      return await this.#append(appended, { ...resumed, moved }, ingest, write);
    } finally {
      // a part may be on its way
      await ingest.pressure;
      ingest.abort();
      await this.#leave(key, resumed.writer);
    }
  }

  /** What stays in the store is what a later request goes on with. */
  async #leave(key: string, writer: ResumableWriter): Promise<void> {
    const { cleanUps } = this.#deps.ingest;
    if (!this.#isShared && !this.#isFinished) {
      cleanUps.run(key, () => writer.abort());
      return;
    }
    await writer.close().catch((why) => this.#warn(why));
    const { place } = this.#progress;
    if (this.#isFinished || this.#isUnsure || place === undefined) return;
    cleanUps.run(key, async () => writer.removeUnsaved?.(place));
  }

  get #progress(): Progress {
    return this.#noted.progress;
  }

  /** Bytes moved so far, with those that this request moves. @throws GatewayError `upload_pieces_too_small` */
  async #moved(key: string, { rest, restSize }: ResumedWrite): Promise<number> {
    const { moved = 0, offset } = this.#progress;
    const allowed = MOST_MOVED_TIMES * offset + MOST_MOVED_MORE;
    const actual = moved + restSize;
    if (actual <= allowed) return actual;
    // the first chunk is enough to close what reads them
    for await (const _ of rest) break;
    await this.#drop(key);
    throw new GatewayError('upload_pieces_too_small', { reason: 'piecesTooSmall', allowed, actual });
  }

  async #append(
    { bytes, checked }: Appended,
    { writer, rest, restSize, moved }: ResumedWrite & { moved: number },
    ingest: Ingest,
    write: OneWrite,
  ): Promise<AppendResult> {
    const base = this.#progress.offset - restSize;
    const { length } = this.#progress;
    const check = (size: number) => {
      if (base + size > length) throw tooLarge({ limit: 'Upload-Length', allowed: length }, base + size);
    };
    const noteParts = async () => {
      const stored = base + write.written;
      if (checked || stored - this.#progress.offset < NOTED_BYTES) return;
      const place = await writer.save(NO_BYTES);
      // what stays counts, even if its caller never completes the file
      const kept = await ingest.keep(write.written);
      await this.#note({ key: ingest.key, place, offset: stored, moved }, kept);
    };
    /** All bytes so far, unless there are none, or the file is complete: it counts once it has a record. */
    const save = async () => {
      const offset = base + ingest.size;
      if (offset === this.#progress.offset || offset === length) return;
      await ingest.commit();
      const { place } = write;
      const kept = { noted: () => ingest.noted(), undo: async () => ingest.undo() };
      if (place !== undefined) await this.#note({ key: ingest.key, place, offset, moved }, kept);
    };
    try {
      await fill(ingest, rest);
      await fill(ingest, bytes, check, noteParts);
    } catch (error) {
      if (!checked && ingest.size >= restSize && !this.#isLost) await save().catch((why) => this.#warn(why));
      throw error;
    }
    checked?.();
    if (base + ingest.size === length) return { offset: length, record: await this.#finish(ingest, write, base === 0) };
    await save();
    return { offset: this.#progress.offset };
  }

  /** @param isWhole the ingest has seen all bytes of the file */
  async #finish(ingest: Ingest, write: OneWrite, isWhole: boolean): Promise<FileRecord> {
    // no other request may continue it meanwhile without noticing
    await this.#note({});
    let draft = isWhole ? await this.#judge(ingest.key, ingest.seal().digest, ingest.head) : undefined;
    write.isEnd = true;
    await ingest.commit();
    this.#isFinished = true;
    try {
      // A hash's state does not survive a request. Reading the object gives the digest of what is stored, by any writer.
      const { isCertain, mark } = write.finished;
      if (!draft || !isCertain) draft = await this.#readBack(ingest.key);
      else if (mark !== undefined) draft = { ...draft, mark };
      return await this.#admit(ingest.key, draft);
    } catch (error) {
      // otherwise the next try would store, and count, all of it once more; of what has been dropped nothing is noted
      await this.#note({ key: ingest.key, isStored: true }).catch(() => undefined);
      throw error;
    }
  }

  /** The writing ended in a request that is gone: with an object, or with nothing. */
  async #recover(key: string): Promise<AppendResult> {
    const { account, ingest, notes } = this.#deps;
    const { length, offset, isStored } = this.#progress;
    if ((await ingest.objects.head(key))?.size !== length) {
      if (await notes.end(this.#admission.fileId, this.#noted))
        void account.released(this.#counted(isStored ? length : offset));
      throw new GatewayError('upload_unknown', { reason: 'uploadNotFound' });
    }
    this.#isFinished = true;
    return { offset: length, record: await this.#admit(key, await this.#readBack(key)) };
  }

  async #readBack(key: string): Promise<Draft> {
    const read = await this.#deps.ingest.objects.get(key, { signal: NEVER });
    if (read.kind !== 'found') throw new GatewayError('store_unavailable', {}, new Error(`the object is ${read.kind}`));
    if (read.stat.size !== this.#progress.length) {
      read.body.destroy();
      throw new GatewayError('store_unavailable', {}, new Error('the object is not the one that was stored'));
    }
    const hash = createHash('sha256');
    let head = NO_BYTES;
    for await (const chunk of read.body as AsyncIterable<Buffer>) {
      hash.update(chunk);
      if (head.length < SNIFF_BYTES) head = Buffer.concat([head, chunk.subarray(0, SNIFF_BYTES - head.length)]);
    }
    const { mark } = read.stat;
    return { ...(await this.#judge(key, hash.digest('base64url'), head)), ...(mark !== undefined && { mark }) };
  }

  /** @throws GatewayError the fault of the file, after nothing of it is left */
  async #judge(key: string, digest: string, head: Buffer): Promise<Draft> {
    const { intent } = this.#admission;
    const { name, mimeType, createdAt } = this.#progress;
    try {
      checkSum(digest, intent);
      const about = await describeUpload(head, { name, mimeType }, intent);
      await this.#deps.account.admits(intent.principal, about.mimeType);
      // An upload that outlasts a file's whole life could no longer see that the file existed.
      if (this.#deps.clock.now() - createdAt >= this.#deps.settings.retentionMs) throw uploadExpired();
      return { ...about, digest };
    } catch (error) {
      await this.#drop(key);
      throw error;
    }
  }

  /** Gives the object its record. Of all attempts with one ticket, on any replica, exactly one succeeds. */
  async #admit(key: string, draft: Draft): Promise<FileRecord> {
    const { library, notes, clock, log } = this.#deps;
    const { fileId, expiresAt } = this.#admission;
    const scan = await this.#scan(key, draft.digest);
    const { length: size, id: upload, createdAt: countedAt, metadata } = this.#progress;
    const record = {
      ...draft,
      id: fileId,
      key,
      size,
      upload,
      createdAt: clock.now(),
      countedAt,
      ...(metadata !== undefined && { metadata }),
      ...(scan && { scan }),
    };
    // If this throws, the record may still have been made: the sweeper then judges the object.
    const isFirst = await library.admit(record, expiresAt);
    await notes.end(fileId, this.#noted).catch((err) => log.warn({ file: fileId, err }, 'could not end an upload'));
    if (isFirst) return record;
    const winner = await library.find(fileId);
    if (winner?.key === key) return winner;
    library.discard(key, this.#counted(size));
    throw await notAdmitted(fileId, library);
  }

  /** @throws GatewayError what the antivirus says of the file, after nothing of it is left, or why it is not scanned */
  async #scan(key: string, digest: string): Promise<FileRecord['scan']> {
    const { antivirus } = this.#deps.ingest;
    const { principal } = this.#admission.intent;
    const file = { owner: { principal }, path: 'the upload', signal: NEVER, digest: () => digest };
    try {
      return await antivirus?.stored({ key, size: this.#progress.length }, file);
    } catch (error) {
      // while the antivirus is away the upload stays as it is: its last request can be repeated
      const { code } = asGatewayError(error);
      if (code === 'file_infected' || code === 'file_unscannable') await this.#drop(key);
      throw error;
    }
  }

  /** Removes everything of the upload. */
  async #drop(key: string): Promise<void> {
    const { account, notes, library, writes, ingest } = this.#deps;
    const { place, offset, length } = this.#progress;
    try {
      // the request that continues it may still complete the file
      if (!(await notes.end(this.#admission.fileId, this.#noted))) return;
    } catch (error) {
      this.#warn(error);
      return;
    }
    if (this.#isFinished) library.discard(key, this.#counted(length));
    else if (place !== undefined) {
      ingest.cleanUps.run(key, () => writes.discard(key, place));
      void account.released(this.#counted(offset));
    }
  }

  #counted(size: number): CountedFile {
    return { principal: this.#admission.intent.principal, size, createdAt: this.#progress.createdAt };
  }

  /**
   * @param kept hears whether it is noted
   * @throws GatewayError `upload_taken_over` when another request has claimed the upload, or ended it */
  async #note(change: Partial<Progress>, kept?: Kept): Promise<void> {
    this.#isShared ||= change.place !== undefined;
    const wasUnsure = this.#isUnsure;
    this.#isUnsure ||= change.place !== undefined;
    let noted: Noted | undefined;
    try {
      noted = await this.#deps.notes.replace(this.#admission.fileId, this.#noted, { ...this.#progress, ...change });
    } catch (error) {
      // it may have been noted after all, and then it must count
      void kept?.noted();
      throw error;
    }
    this.#isUnsure = wasUnsure;
    if (!noted) {
      this.#isLost = true;
      this.#isShared = this.#progress.place !== undefined;
      await kept?.undo();
      throw takenOver();
    }
    this.#noted = noted;
    await kept?.noted();
  }

  #warn(err: unknown): void {
    this.#deps.log.warn({ file: this.#admission.fileId, err }, 'the received part of an upload could not be kept');
  }
}

/** The future record of a file. */
type Draft = Pick<FileRecord, 'principal' | 'name' | 'mimeType' | 'notUtf8' | 'digest' | 'mark'>;

/** For an upload without earlier bytes. */
const NO_REST: AsyncIterable<Buffer> = { async *[Symbol.asyncIterator]() {} };
