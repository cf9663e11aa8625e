import { firstInk } from '../wire/blank.js';
import type { HeldMessage } from '../wire/json/reader.js';

const CLOSE_OBJECT = 0x7d;
const CLOSE_ARRAY = 0x5d;

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

/** Puts items at the end of a list that stands at `range`. @param items JSON, without brackets */
export function addItems(message: Text, range: { start: number; end: number }, items: string): Edit {
  const isEmpty = firstByteFrom(message, range.start + 1) === CLOSE_ARRAY;
  const at = range.end - 1;
  return { start: at, end: at, bytes: Buffer.from(isEmpty ? items : `,${items}`) };
}

/** Edits in the order of the message, as rendering needs them. */
export function inOrder(edits: readonly Edit[]): Edit[] {
  return [...edits].sort((a, b) => a.start - b.start || a.end - b.end);
}
