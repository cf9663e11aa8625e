import type { BigIntStats } from 'node:fs';
import type { Log } from '../../gateway/ports/log.js';

/** Files whose last change is remembered, the latest; of one that was forgotten the next look counts as the first. */
const MAX_MARKS = 50_000;

/**
 * When each file was last changed, as far as this process knows: from the moment it was written, or first seen. What has
 * changed since is no stored file any more, whoever can write to the folder: its digest is promised in every link to it.
 */
export class Marks {
  readonly #log: Log;
  readonly #marks = new Map<string, bigint>();

  constructor(log: Log) {
    this.#log = log;
  }

  /** The file is as it is meant to be. */
  note(key: string, { mtimeNs }: Pick<BigIntStats, 'mtimeNs'>): void {
    this.#marks.delete(key);
    const [oldest] = this.#marks.size < MAX_MARKS ? [] : this.#marks.keys();
    if (oldest !== undefined) this.#marks.delete(oldest);
    this.#marks.set(key, mtimeNs);
  }

  /** Whether the file is what was written; one that is seen for the first time is taken for it. */
  holds(key: string, found: Pick<BigIntStats, 'mtimeNs'>): boolean {
    const known = this.#marks.get(key);
    if (known === undefined) this.note(key, found);
    if (known === undefined || known === found.mtimeNs) return true;
    this.#log.warn({ key }, 'a stored file has been changed by something else, and is not given out any more');
    return false;
  }

  forget(key: string): void {
    this.#marks.delete(key);
  }
}
