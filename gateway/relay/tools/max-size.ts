import { asksFor, encodingFacts } from '../../encodings.js';
import { largestFile } from '../../files/encode/index.js';
import type { SizeBy } from '../../files/tickets/upload-intent.js';
import type { ExchangeLimits } from '../../policy/message-limits.js';
import type { Delivery, FileSlot } from '../../ports/file-slot.js';

/** Room for the rest of a call besides a file. */
export const ENVELOPE_BYTES = 1024;

/** Limits of a message to a server. */
interface Survivable {
  limits: Pick<ExchangeLimits, 'file' | 'sources'>;
  /** Largest message that the server accepts, bytes. */
  accepts: number;
  owner: { server: string };
}

/** The largest file in a slot, in bytes, and what limits it. */
export interface MostInSlot extends SizeBy {
  bytes: number;
}

/** Largest file in a slot: the operator's and the server's limits, and what the server survives. */
export function maxSizeOf(slot: FileSlot, { limits, accepts, owner }: Survivable): MostInSlot {
  const room = roomFor(slot, accepts - ENVELOPE_BYTES);
  const source = limits.sources?.file;
  const candidates: readonly MostInSlot[] = [
    { bytes: slot.maxSize ?? Number.POSITIVE_INFINITY, limit: 'maxSize of the argument' },
    { bytes: limits.file, limit: 'limits.file', ...(source !== undefined && { source }) },
    { bytes: room, limit: `servers.${owner.server}.accepts` },
  ];
  return candidates.reduce((least, candidate) => (candidate.bytes < least.bytes ? candidate : least));
}

/**
 * Bytes of several files in a slot together, where they all are in one message; undefined where each is limited only by
 * itself.
 */
export function mostTogether(
  slot: FileSlot,
  files: number,
  { accepts, owner, limits }: Survivable,
): { bytes: number; limit: string } | undefined {
  const bytes = roomFor(slot, accepts - files * ENVELOPE_BYTES);
  const each = maxSizeOf(slot, { accepts, owner, limits }).bytes;
  return bytes < files * each ? { bytes, limit: `servers.${owner.server}.accepts` } : undefined;
}

/** Most bytes of a file for a slot. @param room bytes that a message has left for it */
function roomFor(slot: FileSlot, room: number): number {
  return Math.max(
    ...slot.deliveries.map((delivery) =>
      delivery.kind === 'uploaded' || isReference(delivery)
        ? Number.POSITIVE_INFINITY
        : (largestFile(delivery.encoding, room, delivery) ?? 0),
    ),
  );
}

/** True when the message contains only an address, however large the file is. */
export function isReference({ encoding, template }: Delivery & { kind: 'encoded' }): boolean {
  if (encodingFacts(encoding).address !== undefined) return true;
  return encoding === 'object' && !asksFor('content', template);
}
