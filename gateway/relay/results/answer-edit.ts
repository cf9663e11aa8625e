import { type Edit, replaceRange } from '../../json/edits.js';
import { RANGE, rangeAt } from '../../mcp/ranges.js';
import type { HeldMessage } from '../../wire/json/reader.js';
import type { EditableAnswer } from '../pending-request.js';

const QUOTE = 0x22;
const SPACE = 0x20;

/** Bytes looked at in one step. */
const LOOK = 4096;

/** Makes an error of a result, or the reverse: the other key, and a value for it. */
export function replaceOutcome(
  { message, base }: Pick<EditableAnswer, 'message' | 'base'>,
  to: 'result' | 'error',
  json: string,
): Edit[] {
  const same = rangeAt(message, RANGE[to], [...base, to]);
  if (same) return [replaceRange(same, json)];
  const from = to === 'result' ? 'error' : 'result';
  const range = rangeAt(message, RANGE[from], [...base, from]);
  if (!range) return [];
  return [replaceRange({ start: keyBefore(message, range.start), end: range.end }, `"${to}":${json}`)];
}

/** Where the key of the value at `start` begins, however it is spelled: a key on the watch tree holds no quote. */
function keyBefore(message: HeldMessage, start: number): number {
  const colon = lastBefore(message, start, (byte) => byte > SPACE);
  const close = lastBefore(message, colon, (byte) => byte > SPACE);
  return lastBefore(message, close, (byte) => byte === QUOTE);
}

/** The last byte before `end` that `fits`. Looked for in pieces: between a key and its value may stand 16 MB of blanks. */
function lastBefore(message: HeldMessage, end: number, fits: (byte: number) => boolean): number {
  for (let until = end; until > 0; until -= LOOK) {
    const from = Math.max(0, until - LOOK);
    const piece = message.slice(from, until);
    for (let at = piece.length - 1; at >= 0; at--) if (fits(piece[at] as number)) return from + at;
  }
  throw new Error('no key before a value');
}
