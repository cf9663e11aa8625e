const QUOTE = 0x22;

/** Bytes that are searched for a quote, to learn whether there are many. */
const LOOK = 256;

/** Texts, in ASCII, of which a message has at least one if there is something in it to be done. Most begin with a quote. */
export class Marks {
  readonly texts: readonly Buffer[];
  /** Bytes of the longest one. */
  readonly longest: number;
  readonly #pattern: RegExp;

  constructor(texts: readonly string[]) {
    const all = [...new Set(texts)];
    this.texts = all.map((text) => Buffer.from(text));
    this.longest = Math.max(0, ...this.texts.map(({ length }) => length));
    this.#pattern = new RegExp(all.map(escaped).join('|'));
  }

  /**
   * Node looks for the first byte of a text, and then at those behind it: a quote in the small values of JSON is nearly always
   * that of another text. There one pattern for all takes a seventh of the time, 4 ms instead of 29 for the longest message, and
   * in prose eight times as long.
   */
  areIn(piece: Buffer): boolean {
    if (hasManyQuotes(piece)) return this.#pattern.test(piece.toString('latin1'));
    for (const text of this.texts) if (piece.includes(text)) return true;
    return false;
  }
}

/** By what is in the middle. A short text is not worth a string. */
function hasManyQuotes(piece: Buffer): boolean {
  if (piece.length < 8 * LOOK) return false;
  const middle = piece.length >> 1;
  return piece.subarray(middle, middle + LOOK).includes(QUOTE);
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}
