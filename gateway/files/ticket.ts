import { randomBytes } from 'node:crypto';
import type { Clock } from '../ports/clock.js';
import type { StateStore } from '../ports/state-store.js';
import type { StateKeys } from './state-keys.js';
import type { UploadIntent } from './upload-intent.js';

/** 256 random bits: unguessable, and long enough that a prefix search in logs finds nothing by accident. */
const TICKET_BYTES = 32;
const TICKET_FORM = /^[A-Za-z0-9_-]{43}$/;

/** An expired ticket is remembered this long, so that its holder hears "expired" (410) and not "unknown" (404). */
const REMEMBERED_MS = 60 * 60 * 1000;

type TicketRecord = {
  fileId: string;
  /** Milliseconds since the Unix epoch. */
  expiresAt: number;
} & ({ purpose: 'download' } | { purpose: 'upload'; intent: UploadIntent });

export type Redeemed = { kind: 'ok'; fileId: string; expiresAt: number } | { kind: 'unknown' } | { kind: 'expired' };

/** The right to upload one file. What became of it is for the file's record to say, whether or not it has expired. */
export interface UploadTicket {
  fileId: string;
  intent: UploadIntent;
  /** Milliseconds since the Unix epoch. */
  expiresAt: number;
  isExpired: boolean;
}

/** Tickets are bearer rights: whoever holds one may use it until it expires. */
export class Tickets {
  readonly #state: StateStore;
  readonly #keys: StateKeys;
  readonly #clock: Clock;

  constructor(state: StateStore, keys: StateKeys, clock: Clock) {
    this.#state = state;
    this.#keys = keys;
    this.#clock = clock;
  }

  /** A new right to download one file, any number of times, for `ttlMs`. */
  async mintDownload(fileId: string, ttlMs: number): Promise<{ ticket: string; expiresAt: number }> {
    const expiresAt = this.#clock.now() + ttlMs;
    return { ticket: await this.#mint({ purpose: 'download', fileId, expiresAt }, ttlMs), expiresAt };
  }

  async redeemDownload(ticket: string): Promise<Redeemed> {
    const record = await this.#find(ticket);
    if (record?.purpose !== 'download') return { kind: 'unknown' };
    if (record.expiresAt <= this.#clock.now()) return { kind: 'expired' };
    return { kind: 'ok', fileId: record.fileId, expiresAt: record.expiresAt };
  }

  /** A new right to upload one file, for as long as `expiresAt` is ahead. */
  mintUpload(fileId: string, intent: UploadIntent, expiresAt: number): Promise<string> {
    return this.#mint({ purpose: 'upload', fileId, expiresAt, intent }, expiresAt - this.#clock.now());
  }

  async findUpload(ticket: string): Promise<UploadTicket | undefined> {
    const record = await this.#find(ticket);
    if (record?.purpose !== 'upload') return undefined;
    const { fileId, intent, expiresAt } = record;
    return { fileId, intent, expiresAt, isExpired: expiresAt <= this.#clock.now() };
  }

  async #mint(record: TicketRecord, ttlMs: number): Promise<string> {
    const ticket = randomBytes(TICKET_BYTES).toString('base64url');
    await this.#state.create(this.#keys.of('ticket', ticket), JSON.stringify(record), ttlMs + REMEMBERED_MS);
    return ticket;
  }

  async #find(ticket: string): Promise<TicketRecord | undefined> {
    if (!TICKET_FORM.test(ticket)) return undefined;
    for (const key of this.#keys.all('ticket', ticket)) {
      const text = await this.#state.read(key);
      if (text !== undefined) return JSON.parse(text) as TicketRecord;
    }
    return undefined;
  }
}
