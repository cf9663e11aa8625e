import { Ledger } from '../../budget/ledger.js';
import type { Preview } from '../../ports/dialect.js';
import type { Owner } from '../../ports/owner.js';

/** Milliseconds after which a preview that was not asked for again is on its way out; it is gone after twice as many. */
const TURN_MS = 60_000;

/** The part of `limits.previewMemory` that finished previews may take: the rest is for pictures that wait for theirs. */
const KEPT_SHARE = 1 / 8;

/** What an entry takes besides its picture. */
const ENTRY_BYTES = 512;

/** A caller's share has room for one: most base64 of a preview, and what it is kept with. */
const UNIT = 128 * 1024;

interface Kept {
  preview: Preview;
  bytes: number;
  owner: Owner;
}

/**
 * Pictures that were made for files of some minutes ago: an agent that looks at the same page or chart again, until something
 * changes, gets the same bytes again, and their preview is three quarters of what they cost. What is kept is found only with the
 * owner that it was made for, its caller and its server, so that the time an answer takes says nothing about what others
 * have seen; and only with the digest of bytes that this owner has just sent again, or still has a record of.
 */
export class MadePreviews {
  /** `limits.previewMemory`, in which they count too. */
  readonly #pictures: Ledger;
  readonly #kept: Ledger;
  /** By owner and digest; those of this turn, and of the turn before. */
  #recent = new Map<string, Kept>();
  #older = new Map<string, Kept>();
  #turns: NodeJS.Timeout | undefined;

  constructor(pictures: Ledger) {
    this.#pictures = pictures;
    this.#kept = new Ledger({ limit: pictures.limit, total: 0, sharing: pictures.sharing, unit: UNIT });
  }

  /** @param digest sha-256 of the file */
  find(owner: Owner, digest: string): Preview | undefined {
    const key = keyOf(owner, digest);
    const kept = this.#recent.get(key) ?? this.#older.get(key);
    if (!kept) return undefined;
    this.#older.delete(key);
    // the one used last stands last
    this.#recent.delete(key);
    this.#recent.set(key, kept);
    return kept.preview;
  }

  /**
   * Keeps it if there is room. An owner's share makes room for its newest by its oldest: no caller can drive out another's.
   * Only a picture is kept: it follows from the file's bytes alone, and a text also from the type that is declared.
   */
  keep({ principal, server }: Owner, digest: string, preview: Preview): void {
    if (!preview.image) return;
    const owner: Owner = { principal, server };
    const key = keyOf(owner, digest);
    if (this.#recent.has(key) || this.#older.has(key)) return;
    const bytes = preview.image.base64.length + ENTRY_BYTES;
    this.#kept.resize({ total: Math.floor(this.#pictures.total * KEPT_SHARE), unit: UNIT });
    while (this.#kept.take(bytes, owner)) if (!this.#dropOldest(owner)) return;
    if (this.#pictures.take(bytes, owner)) {
      this.#kept.give(bytes, owner);
      return;
    }
    this.#recent.set(key, { preview, bytes, owner });
    this.#turns ??= setInterval(() => this.#turn(), TURN_MS).unref();
  }

  /** @returns false when the owner has none */
  #dropOldest({ principal, server }: Owner): boolean {
    for (const previews of [this.#older, this.#recent]) {
      for (const [key, kept] of previews) {
        if (kept.owner.principal !== principal || kept.owner.server !== server) continue;
        previews.delete(key);
        this.#giveBack(kept);
        return true;
      }
    }
    return false;
  }

  #giveBack({ bytes, owner }: Kept): void {
    this.#kept.give(bytes, owner);
    this.#pictures.give(bytes, owner);
  }

  #turn(): void {
    for (const kept of this.#older.values()) this.#giveBack(kept);
    this.#older = this.#recent;
    this.#recent = new Map();
    if (this.#older.size > 0) return;
    clearInterval(this.#turns);
    this.#turns = undefined;
  }
}

/** No name contains a NUL. */
function keyOf({ principal = '', server = '' }: Owner, digest: string): string {
  return `${principal}\0${server}\0${digest}`;
}
