import type { Ledger } from '../budget/ledger.js';
import type { ObjectStore } from '../ports/object-store.js';
import type { FileRecord } from './file.js';

/** A file up to this size is read at once, without a stream: what its call costs beyond one without falls by a quarter. */
export const SHORT_BYTES = 64 * 1024;

/** Milliseconds after which a file that is kept is on its way out; it is gone after twice as many. */
const TURN_MS = 30_000;

/** What an entry takes besides its bytes. */
const ENTRY_BYTES = 256;

/** The bytes of one file, and whose share they take. */
interface Kept {
  bytes: Buffer;
  principal: string;
}

export interface ShortFilesDeps {
  objects: Pick<ObjectStore, 'getWhole'>;
  /** Counts what is kept (`limits.shortFiles`). */
  ledger: Ledger;
}

/**
 * Reads short files for calls, and keeps them for a minute: a model that has a file tends to pass it to several tools, one
 * after the other. A read of the store takes half of such a call's processor time, and in a cloud some 20 ms. Objects never
 * change, and only a caller with a living record gets this far, so nothing that is kept can be wrong.
 */
export class ShortFiles {
  readonly #deps: ShortFilesDeps;
  /** By key of the object; those of this turn, and of the turn before. */
  #recent = new Map<string, Kept>();
  #older = new Map<string, Kept>();
  #turns: NodeJS.Timeout | undefined;

  constructor(deps: ShortFilesDeps) {
    this.#deps = deps;
  }

  /**
   * All bytes of a file up to SHORT_BYTES, which must not be changed; undefined when its object is not, or no longer, there.
   * @throws GatewayError the store's error
   */
  async read({ key, size, principal }: FileRecord, signal: AbortSignal): Promise<Buffer | undefined> {
    const kept = this.#recent.get(key) ?? this.#older.get(key);
    if (kept) return kept.bytes;
    const bytes = await this.#deps.objects.getWhole(key, size, signal);
    if (bytes) this.#keep(key, bytes, principal);
    return bytes;
  }

  /** Keeps it if there is room. What is kept gives way to time alone, so no caller can drive out another's files. */
  #keep(key: string, bytes: Buffer, principal: string): void {
    if (this.#recent.has(key)) return;
    if (this.#deps.ledger.take(bytes.length + ENTRY_BYTES, { principal })) return;
    // a copy, because short buffers are parts of larger ones, which would be kept too
    const own = Buffer.allocUnsafeSlow(bytes.length);
    bytes.copy(own);
    this.#recent.set(key, { bytes: own, principal });
    this.#turns ??= setInterval(() => this.#turn(), TURN_MS).unref();
  }

  #turn(): void {
    for (const { bytes, principal } of this.#older.values()) {
      this.#deps.ledger.give(bytes.length + ENTRY_BYTES, { principal });
    }
    this.#older = this.#recent;
    this.#recent = new Map();
    if (this.#older.size > 0) return;
    clearInterval(this.#turns);
    this.#turns = undefined;
  }
}
