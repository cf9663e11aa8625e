import { TEXTS } from './texts.js';
import type { Phase, Shown } from './transfer.js';

/** Of several files the first of these phases that one of them has is what the page is about. */
const MOST_TELLING: readonly Phase[] = [
  'sending',
  'starting',
  'finishing',
  'queued',
  'waiting',
  'failed',
  'paused',
  'ready',
  'partly',
  'done',
];

/** What the page is called while its files are so. */
export function titleOf(files: readonly Shown[], words: typeof TEXTS.one | typeof TEXTS.several): string {
  switch (MOST_TELLING.find((phase) => files.some((file) => file.phase === phase))) {
    case undefined:
    case 'partly':
      return words.upload;
    case 'ready':
      return TEXTS.chosen;
    case 'paused':
      return TEXTS.paused;
    case 'waiting':
      return TEXTS.titleWaiting;
    case 'failed':
      return words.failed;
    case 'done':
      return words.come;
    default:
      return TEXTS.sending(percentOf(files));
  }
}

/** Percent of all files that are not given up. */
export function percentOf(files: readonly Shown[]): number {
  const counted = files.filter(({ phase }) => phase !== 'failed' && phase !== 'cancelled');
  const size = counted.reduce((sum, { file }) => sum + file.size, 0);
  const sent = counted.reduce((sum, one) => sum + one.sent, 0);
  return size === 0 ? 0 : Math.min(99, Math.floor((sent / size) * 100));
}
