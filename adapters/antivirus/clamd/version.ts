import { type ClamdAddress, ClamdConnection } from './connection.js';

/** How long an answer counts: freshclam looks for new signatures some times a day. */
const KNOWN_MS = 5 * 60_000;

/** `ClamAV 1.4.3/27831/Sat Nov 22 08:26:50 2026`: the program, the number of its database, and when that was made. */
const VERSION = /^[\x20-\x7e]{1,200}$/;

/**
 * What clamd says of its signatures, for the audit log. It is asked beside a scan, once in some minutes, and no scan
 * waits for the answer or fails for want of it.
 */
export class ClamdVersion {
  readonly #address: ClamdAddress;
  readonly #signal: AbortSignal;
  #said: string | undefined;
  #askedAt: number | undefined;

  constructor(address: ClamdAddress, signal: AbortSignal) {
    this.#address = address;
    this.#signal = signal;
  }

  get said(): string | undefined {
    return this.#said;
  }

  /** Asks again where the answer is old. Never rejects. */
  async refresh(): Promise<void> {
    const now = performance.now();
    if (this.#askedAt !== undefined && now - this.#askedAt < KNOWN_MS) return;
    this.#askedAt = now;
    try {
      const connection = await ClamdConnection.open('VERSION', this.#address, this.#signal);
      try {
        const said = await connection.reply();
        this.#said = VERSION.test(said) ? said : undefined;
      } finally {
        connection.close();
      }
    } catch {
      this.#said = undefined;
    }
  }

  /** clamd has been away: another one, with other signatures, may come back. */
  forget(): void {
    this.#said = undefined;
    this.#askedAt = undefined;
  }
}
