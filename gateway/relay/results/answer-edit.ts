import { RANGE, rangeAt } from '../../mcp/ranges.js';
import type { HeldMessage } from '../../wire/json/reader.js';
import type { EditableAnswer } from '../pending-request.js';

const QUOTE = 0x22;
const SPACE = 0x20;

/** Bytes read in one step. */
const LOOK = 4096;

/** Turns a result into an error, or the reverse: replaces key and value. */
export function replaceOutcome(
  { message, base, edits }: Pick<EditableAnswer, 'message' | 'base' | 'edits'>,
  to: 'result' | 'error',
  json: string,
): void {
  const same = rangeAt(message, RANGE[to], [...base, to]);
  const from = to === 'result' ? 'error' : 'result';
  const other = same ? undefined : rangeAt(message, RANGE[from], [...base, from]);
  if (same) edits.replace(same, json);
  if (other) edits.replace({ start: keyBefore(message, other.start), end: other.end }, `"${to}":${json}`);
}

/** Where the key of the value at `start` begins, however it is spelled: a key on the watch tree contains no quote. */
function keyBefore(message: HeldMessage, start: number): number {
  const colon = lastBefore(message, start, (byte) => byte > SPACE);
  const close = lastBefore(message, colon, (byte) => byte > SPACE);
  return lastBefore(message, close, (byte) => byte === QUOTE);
}

/**
 * The last byte before `end` that `fits`. Searched in pieces, because 16 MB of blanks may separate a key from its
 * value.
 */
function lastBefore(message: HeldMessage, end: number, fits: (byte: number) => boolean): number {
  for (let until = end; until > 0; until -= LOOK) {
    const from = Math.max(0, until - LOOK);
    const piece = message.slice(from, until);
    for (let at = piece.length - 1; at >= 0; at--) if (fits(piece[at] as number)) return from + at;
  }
  throw new Error('no key before a value');
}
