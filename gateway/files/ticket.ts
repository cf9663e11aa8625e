import { randomBytes } from 'node:crypto';
import type { Clock } from '../ports/clock.js';
import type { StateStore } from '../ports/state-store.js';
import type { StateKeys } from './state-keys.js';

/** 256 random bits: unguessable, and long enough that a prefix search in logs finds nothing by accident. */
const TICKET_BYTES = 32;
const TICKET_FORM = /^[A-Za-z0-9_-]{43}$/;

/** An expired ticket is remembered this long, so that its holder hears "expired" (410) and not "unknown" (404). */
const REMEMBERED_MS = 60 * 60 * 1000;

interface TicketRecord {
  purpose: 'download';
  fileId: string;
  /** Milliseconds since the Unix epoch. */
  expiresAt: number;
}

export type Redeemed = { kind: 'ok'; fileId: string; expiresAt: number } | { kind: 'unknown' } | { kind: 'expired' };

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
    const ticket = randomBytes(TICKET_BYTES).toString('base64url');
    const expiresAt = this.#clock.now() + ttlMs;
    const record: TicketRecord = { purpose: 'download', fileId, expiresAt };
    await this.#state.create(this.#keys.of('ticket', ticket), JSON.stringify(record), ttlMs + REMEMBERED_MS);
    return { ticket, expiresAt };
  }

  async redeemDownload(ticket: string): Promise<Redeemed> {
    if (!TICKET_FORM.test(ticket)) return { kind: 'unknown' };
    const text = await this.#read(ticket);
    if (text === undefined) return { kind: 'unknown' };
    const record = JSON.parse(text) as TicketRecord;
    if (record.purpose !== 'download') return { kind: 'unknown' };
    if (record.expiresAt <= this.#clock.now()) return { kind: 'expired' };
    return { kind: 'ok', fileId: record.fileId, expiresAt: record.expiresAt };
  }

  async #read(ticket: string): Promise<string | undefined> {
    for (const key of this.#keys.all('ticket', ticket)) {
      const text = await this.#state.read(key);
      if (text !== undefined) return text;
    }
    return undefined;
  }
}
