import type { HeldMessage } from '../../wire/json/reader.js';
import type { MessageCuts } from '../cut/message-cuts.js';

/**
 * How much longer edits may make a message: as sent it has at most `limits.response` bytes, or its original length.
 * Checked before bytes are created, because a few bytes of a server's may become many of Wharf's.
 */
export class Room {
  #left: number;

  /** @param size of the original message */
  constructor(limit: number, size: number) {
    this.#left = Math.max(0, limit - size);
  }

  get left(): number {
    return this.#left;
  }

  /** Takes bytes if there is room for them. Shortening the message does not make room. */
  take(bytes: number): boolean {
    if (bytes <= 0) return true;
    if (bytes > this.#left) return false;
    this.#left -= bytes;
    return true;
  }
}

/** Size of a message as sent without edits, not counting strings of files. */
export function plainSize(message: HeldMessage, cuts: MessageCuts): number {
  let size = message.size;
  for (const { inline } of cuts.cuts) for (const piece of inline ?? []) size += piece.length;
  for (const { nested } of cuts.texts) size += nested.size;
  return size;
}
