import { asksFor, encodingFacts } from '../../encodings.js';
import { largestFile } from '../../files/encode/index.js';
import type { Limits } from '../../policy/limits.js';
import type { Delivery, FileSlot } from '../../ports/file-slot.js';

/** Room for the rest of a call besides a file. */
export const ENVELOPE_BYTES = 1024;

/** Limits of a message to a server. */
interface Survivable {
  limits: Pick<Limits, 'file'>;
  /** Largest message that the server accepts, bytes. */
  accepts: number;
  owner: { server: string };
}

/** Largest file in a slot, in bytes: the operator's and the server's limits, and what the server survives. */
export function maxSizeOf(slot: FileSlot, { limits, accepts, owner }: Survivable): { bytes: number; limit: string } {
  const room = Math.max(
    ...slot.deliveries.map((delivery) =>
      delivery.kind === 'uploaded' || isReference(delivery)
        ? Number.POSITIVE_INFINITY
        : (largestFile(delivery.encoding, accepts - ENVELOPE_BYTES, delivery) ?? 0),
    ),
  );
  const candidates = [
    { bytes: slot.maxSize ?? Number.POSITIVE_INFINITY, limit: 'maxSize of the argument' },
    { bytes: limits.file, limit: 'limits.file' },
    { bytes: room, limit: `servers.${owner.server}.accepts` },
  ];
  return candidates.reduce((least, candidate) => (candidate.bytes < least.bytes ? candidate : least));
}

/** True when the message contains only an address, however large the file is. */
export function isReference({ encoding, template }: Delivery & { kind: 'encoded' }): boolean {
  if (encodingFacts(encoding).address !== undefined) return true;
  return encoding === 'object' && !asksFor('content', template);
}
