import type { FileRecord } from '../file.js';

/** Every key of the state store has a time to live; a held file's is longer than any hold. */
const HELD_MS = 10 * 365 * 24 * 60 * 60 * 1000;

/** How long a record is kept that is written now. */
export function lifetimeOf({ heldAt }: Pick<FileRecord, 'heldAt'>, retentionMs: number): number {
  return heldAt === undefined ? retentionMs : HELD_MS;
}
