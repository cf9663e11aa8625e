import type { BigIntStats } from 'node:fs';
import type { Log } from '../../../gateway/ports/log.js';

/**
 * Most files whose last change is remembered. After that the oldest is forgotten, and its next check counts as the
 * first.
 */
const MAX_MARKS = 50_000;

/**
 * When each file was last changed, as far as this process knows: since it was written or first seen. A file changed
 * since then is no longer the stored file: every link to it promises its digest, but others may be able to write to
 * the folder.
 */
export class Marks {
  readonly #log: Log;
  readonly #marks = new Map<string, bigint>();

  constructor(log: Log) {
    this.#log = log;
  }

  /** Records the file's present state as correct. */
  note(key: string, { mtimeNs }: Pick<BigIntStats, 'mtimeNs'>): void {
    this.#marks.delete(key);
    const [oldest] = this.#marks.size < MAX_MARKS ? [] : this.#marks.keys();
    if (oldest !== undefined) this.#marks.delete(oldest);
    this.#marks.set(key, mtimeNs);
  }

  /** True when it is known how the file was left. */
  knows(key: string): boolean {
    return this.#marks.has(key);
  }

  /** True when the file is as it was written; a file seen for the first time counts as such. */
  holds(key: string, found: Pick<BigIntStats, 'mtimeNs'>): boolean {
    const known = this.#marks.get(key);
    if (known === undefined) this.note(key, found);
    if (known === undefined || known === found.mtimeNs) return true;
    this.#log.warn({ key }, 'a stored file was changed outside Wharf and is no longer served');
    return false;
  }

  forget(key: string): void {
    this.#marks.delete(key);
  }
}
