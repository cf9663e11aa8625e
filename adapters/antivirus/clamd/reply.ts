import type { Verdict } from '../../../gateway/ports/antivirus.js';

/** clamd's longest honest reply has a signature's name in it. */
export const MAX_REPLY = 4096;

const FOUND = /^stream: ([\x21-\x7e]{1,200}) FOUND$/;

/** What clamd reports as found where a file, or what is packed in it, is more than it scans (`AlertExceedsMax yes`). */
const LIMITS = /^Heuristics\.Limits\.Exceeded(?:\.|$)/;

/** Sent as soon as a stream is longer than `StreamMaxLength`, before its end. */
const SIZE_LIMIT = 'INSTREAM size limit exceeded. ERROR';

/**
 * The verdict in a reply to INSTREAM. Only these very words count: a reply that merely contains "OK" says nothing.
 * @param text without the NUL at its end
 */
export function readReply(text: string): Verdict | undefined {
  if (text === 'stream: OK') return { kind: 'clean' };
  if (text === SIZE_LIMIT) return { kind: 'too-large' };
  const signature = FOUND.exec(text)?.[1];
  if (signature === undefined) return undefined;
  return LIMITS.test(signature) ? { kind: 'too-large' } : { kind: 'infected', signature };
}
