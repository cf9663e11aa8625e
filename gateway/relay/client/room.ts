import type { Edit } from '../../json/edits.js';
import type { HeldMessage } from '../../wire/json/reader.js';
import type { MessageCuts } from '../cut/message-cuts.js';

/**
 * How much longer a message may still become on its way to the client: as it goes out it has at most `limits.response`
 * bytes, as it came. Asked before bytes are made, for a few words of a server's may stand for many of Wharf's.
 */
export class Room {
  #left: number;

  /** @param size of the message as it came */
  constructor(limit: number, size: number) {
    this.#left = Math.max(0, limit - size);
  }

  get left(): number {
    return this.#left;
  }

  /** Takes bytes, if there is room for them. What makes the message shorter makes no room for others. */
  take(bytes: number): boolean {
    if (bytes <= 0) return true;
    if (bytes > this.#left) return false;
    this.#left -= bytes;
    return true;
  }
}

/** Bytes of a message as it goes out without edits, strings of files not counted. */
export function plainSize(message: HeldMessage, cuts: MessageCuts): number {
  let size = message.size;
  for (const { inline } of cuts.cuts) for (const piece of inline ?? []) size += piece.length;
  return size;
}

/** By how much edits make a message longer. */
export function growthOf(edits: readonly Edit[]): number {
  return edits.reduce((sum, { start, end, bytes }) => sum + bytes.length - (end - start), 0);
}
