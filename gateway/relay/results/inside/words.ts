import { breathe } from '../../../budget/turn.js';
import type { Owner } from '../../../ports/owner.js';
import { ByteStore } from '../../../wire/json/byte-store.js';
import type { NestedCuts } from '../../cut/nested-cuts.js';

/** What is not base64, in either alphabet. */
const OTHERS = /[^A-Za-z0-9+/_=-]+/;

/** Bytes of a text that are searched in one step. */
const SLICE = 64 * 1024;

const HEX = /^[0-9a-fA-F]+$/;

/** True for hexadecimal, in which digests and ids are written. */
export function areHex(pieces: readonly Buffer[]): boolean {
  return pieces.every((piece) => HEX.test(piece.toString('latin1')));
}

/** The words of a JSON text that may be base64, whatever the text is: what has left it is not among them. */
export async function* wordsOf(
  { parts }: Pick<NestedCuts, 'parts'>,
  least: number,
  owner: Owner,
): AsyncGenerator<string> {
  for (const part of parts) {
    if (!(part instanceof ByteStore)) continue;
    let open: string[] = [];
    for (const slice of slicesOf(part.pieces())) {
      await breathe(owner);
      const [first = '', ...words] = wordsIn(slice);
      open.push(first);
      for (const word of words) {
        const whole = open.join('');
        if (whole.length >= least && !HEX.test(whole)) yield whole;
        open = [word];
      }
    }
    const last = open.join('');
    if (last.length >= least && !HEX.test(last)) yield last;
  }
}

/** Both levels of JSON may escape slashes and line breaks. */
function wordsIn(slice: Buffer): string[] {
  const text = slice.toString('latin1');
  return (
    text
      // from the first backslash only: 64 KiB of them would take 3 s otherwise
      .replaceAll(/(?<!\\)\\+[rn]/g, '')
      .replaceAll('\\', '')
      .split(OTHERS)
  );
}

function* slicesOf(pieces: readonly Buffer[]): Generator<Buffer> {
  for (const piece of pieces) {
    for (let at = 0; at < piece.length; at += SLICE) yield piece.subarray(at, at + SLICE);
  }
}
