const BACKSLASH = 0x5c;

/** A quote in a JSON string: of the text's own strings, or in one of them. No base64 goes on after it. */
const QUOTE = Buffer.from('\\"');

/** Shorter pieces are read byte by byte at once. */
const WORTH = 64;

interface Within {
  start: number;
  end: number;
  /** Length of a string that began before the piece. */
  begun: number;
  /** Length from which a string may be a file. */
  min: number;
}

/** Where the short strings end, or how far there is no use in looking for any. */
type ShortStrings = { to: number } | { notBefore: number };

/**
 * The end of a piece of a text in which no string can be a file, behind a quote of the text's JSON: looks at one quote in
 * `min` bytes, from the right, instead of at every byte. Quotes that are spelled in another way do not count.
 */
export function shortStrings(chunk: Buffer, { start, end, begun, min }: Within): ShortStrings {
  if (end - start < WORTH) return { notBefore: end };
  // a search goes to the end of what it is given
  const piece = chunk.subarray(start, end);
  const first = piece.indexOf(QUOTE);
  if (first < 0) return { notBefore: end };
  if (begun + first >= min) return { notBefore: start + first };
  let quote = first;
  for (;;) {
    const next = lastQuote(piece, Math.min(quote + min, piece.length));
    if (next <= quote) break;
    quote = next;
  }
  // an escaped backslash before it says that it may be a character of a string
  while (quote > 0 && piece[quote - 1] === BACKSLASH) {
    if (quote === first) return { notBefore: end };
    quote = lastQuote(piece, quote);
  }
  return { to: start + quote + QUOTE.length };
}

/** The last quote that is over before this place. */
function lastQuote(piece: Buffer, end: number): number {
  return piece.lastIndexOf(QUOTE, end - QUOTE.length);
}
