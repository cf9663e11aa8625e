import { firstInk } from '../wire/blank.js';
import type { HeldMessage, WatchRange } from '../wire/json/reader.js';

const CLOSE_OBJECT = 0x7d;

/** Bytes looked at in one step: at first few, for most objects have no blanks before their first key. */
const FIRST_LOOK = 256;
const LOOK = 64 * 1024;

/** Bytes that take the place of `[start, end)` of a held message. */
export interface Edit {
  start: number;
  end: number;
  bytes: Buffer;
}

export function replaceRange(range: { start: number; end: number }, json: string): Edit {
  return { start: range.start, end: range.end, bytes: Buffer.from(json) };
}

/** The range called `name` whose path is `base` and then exactly `below`. */
export function rangeAt(
  message: HeldMessage,
  name: string,
  path: readonly (string | number)[],
): WatchRange | undefined {
  return message.ranges.find((range) => range.name === name && samePath(range.path, path));
}

/** A text of JSON in which places are known. */
type Text = Pick<HeldMessage, 'size' | 'slice'>;

/** Puts a member first into an object that stands at `range`. */
export function insertMember(message: Text, range: { start: number; end: number }, member: string): Edit {
  const at = range.start + 1;
  const isEmpty = firstByteFrom(message, at) === CLOSE_OBJECT;
  return { start: at, end: at, bytes: Buffer.from(isEmpty ? member : `${member},`) };
}

/** The first byte from `at` on that is no whitespace; a large object is not copied together for that. */
function firstByteFrom(message: Text, at: number): number | undefined {
  for (let from = at, step = FIRST_LOOK; from < message.size; from += step, step = LOOK) {
    const found = firstInk(message.slice(from, Math.min(from + step, message.size)));
    if (found !== undefined) return found;
  }
  return undefined;
}

function samePath(a: readonly (string | number)[], b: readonly (string | number)[]): boolean {
  return a.length === b.length && a.every((key, index) => key === b[index]);
}

/** Edits in the order of the message, as rendering needs them. */
export function inOrder(edits: readonly Edit[]): Edit[] {
  return [...edits].sort((a, b) => a.start - b.start || a.end - b.end);
}
