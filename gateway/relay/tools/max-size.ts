import { largestFile } from '../../files/encode/index.js';
import type { Limits } from '../../policy/limits.js';
import type { Delivery, FileSlot } from '../../ports/file-slot.js';

/** What a call says besides its files, and how much of it must fit beside one. */
export const ENVELOPE_BYTES = 1024;

/** What a message to a server may be. */
interface Survivable {
  limits: Pick<Limits, 'file'>;
  /** Largest message the server takes, bytes. */
  accepts: number;
  owner: { server: string };
}

/** The most bytes a file in a slot may have: the operator's and the server's limits, and what the server survives. */
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

/** Only an address stands in the message, however large the file is. */
export function isReference({ encoding, template }: Delivery & { kind: 'encoded' }): boolean {
  if (encoding === 'localPath' || encoding === 'fileUri' || encoding === 'httpsUrl') return true;
  return encoding === 'object' && !/\$(?:base64|base64url|hex|dataUri|text)\b/.test(JSON.stringify(template));
}
