import type { HeldMessage, WatchRange } from '../wire/json/reader.js';

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

/** Puts a member first into an object that stands at `range`. */
export function insertMember(message: HeldMessage, range: { start: number; end: number }, member: string): Edit {
  const isEmpty = /^\{\s*\}$/.test(message.slice(range.start, range.end).toString('latin1'));
  const at = range.start + 1;
  return { start: at, end: at, bytes: Buffer.from(isEmpty ? member : `${member},`) };
}

function samePath(a: readonly (string | number)[], b: readonly (string | number)[]): boolean {
  return a.length === b.length && a.every((key, index) => key === b[index]);
}

/** Edits in the order of the message, as rendering needs them. */
export function inOrder(edits: readonly Edit[]): Edit[] {
  return [...edits].sort((a, b) => a.start - b.start || a.end - b.end);
}
