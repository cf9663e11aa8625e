/** Bytes that are searched in one step. */
const STEP = 64 * 1024;

/**
 * What is to be searched, part by part, for a mark that may lie across several pieces of a text. A piece is not copied, only
 * the few bytes where two of them meet: V8 looks at its whole heap after some 64 MiB of buffers, and with two copies of each
 * result for its search that took twice the processor time of a text of 1 MB.
 * @param longest bytes of the longest mark
 */
export function looks(pieces: readonly Buffer[], longest: number): Iterable<Buffer> {
  const [first] = pieces;
  // a short text in one piece, as most are
  return pieces.length === 1 && first && first.length <= STEP ? pieces : parts(pieces, longest);
}

function* parts(pieces: readonly Buffer[], longest: number): Generator<Buffer> {
  const reach = longest - 1;
  /** The last bytes so far, in which a mark may have begun. */
  let before: Buffer | undefined;
  for (const piece of pieces) {
    if (before) yield Buffer.concat([before, piece.subarray(0, reach)]);
    if (piece.length <= STEP) yield piece;
    else for (let from = 0; from < piece.length; from += STEP) yield piece.subarray(from, from + STEP + reach);
    const last: Buffer = before && piece.length < reach ? Buffer.concat([before, piece]) : piece;
    before = last.subarray(Math.max(0, last.length - reach));
  }
}
