import { Ingest, type IngestDeps, type Stored } from '../../files/ingest/ingest.js';
import type { PartLease } from '../../files/ingest/part-lease.js';
import type { Library } from '../../files/library.js';
import type { PreviewAhead } from '../../files/previews/ahead.js';
import type { Owner } from '../../ports/owner.js';

export interface MessageFilesDeps {
  ingest: IngestDeps;
  library: Library;
  /** Begins the preview of a file while the file is being stored. Absent where previews are switched off. */
  previewAhead?: ((owner: Owner, signal: AbortSignal) => PreviewAhead) | undefined;
}

/** The files of one message on their way into the object store, until they have a record. */
export class MessageFiles {
  readonly #deps: MessageFilesDeps;
  readonly #owner: Owner;
  readonly #signal: AbortSignal;
  /** By digest. */
  readonly #kept = new Map<string, Promise<Stored>>();
  readonly #previews = new WeakMap<Ingest, PreviewAhead>();

  constructor(deps: MessageFilesDeps, owner: Owner, signal: AbortSignal) {
    this.#deps = deps;
    this.#owner = owner;
    this.#signal = signal;
  }

  /**
   * @param limit of its size, as of `Ingest`
   * @param isShown its preview is begun with it
   */
  open(limit: { name: string; bytes: number; path: string }, lease: PartLease | undefined, isShown: boolean): Ingest {
    const preview = isShown ? this.#deps.previewAhead?.(this.#owner, this.#signal) : undefined;
    const taps = preview && [() => preview];
    const ingest = new Ingest(this.#deps.ingest, { owner: this.#owner, limit, lease, taps }, this.#signal);
    if (preview) this.#previews.set(ingest, preview);
    return ingest;
  }

  /** Equal bytes in one message are stored once. */
  async keep(ingest: Ingest): Promise<Stored> {
    const { digest } = ingest.seal();
    const twin = this.#kept.get(digest);
    if (twin) {
      ingest.abort();
      return twin;
    }
    const preview = this.#previews.get(ingest);
    const stored = ingest.commit().then(
      (facts) => ({ ...facts, preview }),
      (error) => {
        preview?.abort();
        throw error;
      },
    );
    this.#kept.set(digest, stored);
    return stored;
  }

  /** A file has got a record, so this message must no longer remove it. */
  recorded(stored: Stored): void {
    this.#kept.delete(stored.digest);
  }

  /** Removes, in the background, every file that has no record. */
  discard(): void {
    for (const storing of this.#kept.values()) {
      storing.then(({ preview }) => preview?.abort()).catch(() => undefined);
      this.#deps.library.discardStored(storing, this.#owner.principal);
    }
    this.#kept.clear();
  }
}
