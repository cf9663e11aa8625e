import type { Clock } from '../../ports/clock.js';

/** Part of a file's life by which it may end early, since a use that follows another at once does not extend it. */
const PART = 1000;

/** Most files that are remembered, some 100 bytes each. Past it all are forgotten, which costs one extension each. */
const MOST = 10_000;

interface RecentUsesDeps {
  /** Extends a file by another `retention`; false when it is gone. */
  touch: (id: string) => Promise<boolean>;
  clock: Clock;
  /** How long a file lives after its last use. */
  retentionMs: number;
}

/**
 * Extends the files that calls use, but for those that this process has extended a moment ago: a model passes a file to several
 * tools in a row, and each extension asks the state store twice, beside the one look that every call takes at the record.
 */
export class RecentUses {
  readonly #deps: RecentUsesDeps;
  readonly #spanMs: number;
  #spanFrom = Number.NEGATIVE_INFINITY;
  #ids = new Set<string>();

  constructor(deps: RecentUsesDeps) {
    this.#deps = deps;
    this.#spanMs = deps.retentionMs / PART;
  }

  /** A call uses a file whose record it has just read; undefined when there is nothing to wait for. */
  use(id: string): Promise<void> | undefined {
    this.#forget();
    return this.#ids.has(id) ? undefined : this.#extend(id);
  }

  async #extend(id: string): Promise<void> {
    if (await this.#deps.touch(id)) this.note(id);
  }

  /** The file has just been stored or extended. */
  note(id: string): void {
    this.#forget();
    this.#ids.add(id);
  }

  #forget(): void {
    const now = this.#deps.clock.now();
    const isOver = now < this.#spanFrom || now - this.#spanFrom >= this.#spanMs;
    if (!isOver && this.#ids.size < MOST) return;
    this.#spanFrom = now;
    if (this.#ids.size > 0) this.#ids = new Set();
  }
}
