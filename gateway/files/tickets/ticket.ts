import { createHmac, timingSafeEqual } from 'node:crypto';
import { keptIn, type Shape } from '../../errors/kept.js';
import type { Clock } from '../../ports/clock.js';
import type { Owner } from '../../ports/owner.js';
import type { StateStore } from '../../ports/state-store.js';
import { randomBytes } from '../../random.js';
import type { StateKeys } from '../../secrets/state-keys.js';
import type { UploadIntent } from './upload-intent.js';

/** 256 random bits: unguessable, and long enough that a prefix search in logs finds nothing by accident. */
const TICKET_BYTES = 32;
/**
 * A lasting ticket consists of the random part of the file's id, a salt that makes each ticket different, and a seal of
 * 96 bits.
 */
const ID_BYTES = 16;
const SALT_BYTES = 4;
const SEAL_BYTES = TICKET_BYTES - ID_BYTES - SALT_BYTES;
/** 32 bytes in base64url. The last character holds four bits: with others after them a ticket would have four spellings. */
const TICKET_FORM = /^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/;

/** There are two marks, and each is set once: a third try finds nothing left to lose against. */
const MARK_TRIES = 3;

/** How long an expired ticket is remembered, so that its holder gets "expired" (410) and not "unknown" (404). */
const REMEMBERED_MS = 60 * 60 * 1000;

interface AnyTicket {
  fileId: string;
  /** Milliseconds since the Unix epoch. */
  expiresAt: number;
}

interface DownloadRecord extends AnyTicket {
  purpose: 'download';
  as?: FileLabel;
}

interface UploadRecord extends AnyTicket {
  purpose: 'upload';
  intent: UploadIntent;
  isOpened?: true;
  isRevoked?: true;
}

type TicketRecord = DownloadRecord | UploadRecord;

const OF_ANY = { fileId: 'text', expiresAt: 'number', purpose: 'text' } as const;
const DOWNLOAD: Shape<DownloadRecord> = { ...OF_ANY, as: 'object?' };
const UPLOAD: Shape<UploadRecord> = { ...OF_ANY, intent: 'object', isOpened: 'true?', isRevoked: 'true?' };

type Mark = 'isOpened' | 'isRevoked';

/** Longer than any ticket, but short enough to hash and log. */
const TICKET = /^[\w-]{1,256}$/;

/** True when a text is short and plain enough to be looked up as a ticket. */
export function mayBeTicket(text: string): boolean {
  return TICKET.test(text);
}

/** What a link to a file says of it, if that is other than its record. */
export interface FileLabel {
  name: string;
  mimeType: string;
  /** URI of the resource that it is. */
  resource?: string;
}

type Redeemed =
  | { kind: 'ok'; fileId: string; expiresAt: number; as?: FileLabel }
  | { kind: 'unknown' }
  | { kind: 'expired' };

/**
 * The right to upload one file. Whether the file was uploaded is in the file's record, also after the right has
 * expired.
 */
export interface UploadTicket {
  fileId: string;
  intent: UploadIntent;
  /** Milliseconds since the Unix epoch. */
  expiresAt: number;
  isExpired: boolean;
  /** A user has opened its page, or an upload has begun. */
  isOpened: boolean;
  /** The caller that asked for the file no longer wants it. */
  isRevoked: boolean;
  written: Written;
}

/** A ticket's record as it was read, so that a change of it need not read it again. */
interface Written {
  key: string;
  text: string;
}

/**
 * The ticket for one file of a link that takes several: only the holder of the link's own ticket can compute it, so that
 * it need not be kept.
 */
export function placeTicket(ticket: string, fileId: string): string {
  return createHmac('sha256', ticket).update(`place:${fileId}`).digest('base64url');
}

/** A ticket is a bearer right: its holder may use it until it expires. */
export class Tickets {
  readonly #state: StateStore;
  readonly #keys: StateKeys;
  readonly #clock: Clock;
  readonly #lastingMs: number | undefined;

  /** @param lastingMs set if tickets may last as long as their files: how long those are kept after each use */
  constructor(state: StateStore, keys: StateKeys, clock: Clock, lastingMs?: number) {
    this.#state = state;
    this.#keys = keys;
    this.#clock = clock;
    this.#lastingMs = lastingMs;
  }

  /** A new right to download one file as long as it exists. It is not stored: it carries all that it means. */
  lasting(fileId: string): string {
    const head = Buffer.concat([idBytes(fileId), randomBytes(SALT_BYTES)]);
    const [seal] = this.#keys.seals('link', head.toString('base64url'));
    return Buffer.concat([head, seal.subarray(0, SEAL_BYTES)]).toString('base64url');
  }

  /**
   * A new right to download one file, any number of times, for `ttlMs`.
   * @param owner of the file
   * @param as name and type of the download
   */
  async mintDownload(
    fileId: string,
    ttlMs: number,
    owner: Owner,
    as?: FileLabel,
  ): Promise<{ ticket: string; expiresAt: number }> {
    const expiresAt = this.#clock.now() + ttlMs;
    const record: TicketRecord = { purpose: 'download', fileId, expiresAt, ...(as && { as }) };
    const ticket = await this.#mint(newTicket(), record, owner);
    return { ticket, expiresAt };
  }

  async redeemDownload(ticket: string): Promise<Redeemed> {
    const lasting = this.#redeemLasting(ticket);
    if (lasting) return lasting;
    const { record } = (await this.#find(ticket)) ?? {};
    if (record?.purpose !== 'download') return { kind: 'unknown' };
    if (record.expiresAt <= this.#clock.now()) return { kind: 'expired' };
    const { fileId, expiresAt, as } = record;
    return { kind: 'ok', fileId, expiresAt, ...(as && { as }) };
  }

  /** A new right to upload one file until `expiresAt`. @param ticket an unguessable one, if it is not to be random */
  mintUpload(fileId: string, intent: UploadIntent, expiresAt: number, ticket = newTicket()): Promise<string> {
    const { principal, purpose } = intent;
    const owner = { principal, server: purpose?.server };
    const record: TicketRecord = { purpose: 'upload', fileId, expiresAt, intent };
    return this.#mint(ticket, record, owner);
  }

  #redeemLasting(ticket: string): Redeemed | undefined {
    if (this.#lastingMs === undefined || !TICKET_FORM.test(ticket)) return undefined;
    const bytes = Buffer.from(ticket, 'base64url');
    const head = bytes.subarray(0, ID_BYTES + SALT_BYTES);
    const given = bytes.subarray(ID_BYTES + SALT_BYTES);
    if (!this.#sealsOf(head).some((seal) => timingSafeEqual(seal, given))) return undefined;
    const fileId = `f_${head.subarray(0, ID_BYTES).toString('base64url')}`;
    return { kind: 'ok', fileId, expiresAt: this.#clock.now() + this.#lastingMs };
  }

  #sealsOf(head: Buffer): Buffer[] {
    return this.#keys.seals('link', head.toString('base64url')).map((seal) => seal.subarray(0, SEAL_BYTES));
  }

  async findUpload(ticket: string): Promise<UploadTicket | undefined> {
    const found = await this.#find(ticket);
    if (found?.record.purpose !== 'upload') return undefined;
    const { fileId, intent, expiresAt, isOpened = false, isRevoked = false } = found.record;
    const isExpired = expiresAt <= this.#clock.now();
    return { fileId, intent, expiresAt, isExpired, isOpened, isRevoked, written: found.written };
  }

  /** Ends a right to upload before its time. An upload that has begun is not stopped. */
  revokeUpload(ticket: string): Promise<void> {
    return this.#mark(ticket, 'isRevoked');
  }

  /**
   * A user has opened its page: every replica that waits for the file can see that.
   * @param written the ticket as it was just read
   */
  async noteOpened(ticket: string, written?: Written): Promise<void> {
    if (written && (await this.#marked(written, 'isOpened'))) return;
    await this.#mark(ticket, 'isOpened');
  }

  /** Both marks may be set at the same time, by two replicas: then one of them tries again. */
  async #mark(ticket: string, mark: Mark): Promise<void> {
    if (!TICKET_FORM.test(ticket)) return;
    for (const key of this.#keys.all('ticket', ticket)) {
      for (let tries = 0; tries < MARK_TRIES; tries++) {
        const text = await this.#state.read(key);
        if (text === undefined) break;
        if (await this.#marked({ key, text }, mark)) return;
      }
    }
  }

  /** False when the record is no longer as it was written. */
  async #marked({ key, text }: Written, mark: Mark): Promise<boolean> {
    const record = recordIn(text);
    if (record.purpose !== 'upload' || record[mark]) return true;
    const marked: TicketRecord = { ...record, [mark]: true };
    const ttlMs = Math.max(0, record.expiresAt - this.#clock.now()) + REMEMBERED_MS;
    return this.#state.replace(key, text, JSON.stringify(marked), ttlMs);
  }

  /** Remembers a ticket at least until then, even if it has expired, because it is in use. */
  async keep(ticket: string, until: number): Promise<void> {
    const ttlMs = until - this.#clock.now() + REMEMBERED_MS;
    await Promise.all(this.#keys.all('ticket', ticket).map((key) => this.#state.extend(key, ttlMs)));
  }

  async #mint(ticket: string, record: TicketRecord, owner: Owner): Promise<string> {
    const ttlMs = record.expiresAt - this.#clock.now() + REMEMBERED_MS;
    await this.#state.create(this.#keys.of('ticket', ticket), JSON.stringify(record), ttlMs, owner);
    return ticket;
  }

  async #find(ticket: string): Promise<{ record: TicketRecord; written: Written } | undefined> {
    if (!TICKET_FORM.test(ticket)) return undefined;
    for (const key of this.#keys.all('ticket', ticket)) {
      const text = await this.#state.read(key);
      if (text === undefined) continue;
      return { record: recordIn(text), written: { key, text } };
    }
    return undefined;
  }
}

function recordIn(text: string): TicketRecord {
  const { purpose } = keptIn<Pick<TicketRecord, 'purpose'>>(text, { purpose: 'text' });
  return purpose === 'upload' ? keptIn(text, UPLOAD) : keptIn(text, DOWNLOAD);
}

function newTicket(): string {
  return randomBytes(TICKET_BYTES).toString('base64url');
}

/** The random part of a file's id. */
function idBytes(fileId: string): Buffer {
  return Buffer.from(fileId.slice(fileId.indexOf('_') + 1), 'base64url');
}
