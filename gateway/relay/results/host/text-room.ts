import type { ShownText } from '../../../ports/host.js';
import { linesOf } from './shortened-text.js';

/** What is shorter than this stays whole: of a result's many short texts, none is worth a file. */
const LEAST = { most: 1000, lines: 20 };

/** How much room each text of one result has: its host's limit may be for all of them together. */
export class TextRoom {
  readonly #limit: ShownText;
  /** Longest text that stays whole. */
  readonly #most: number;
  readonly #lines: number;

  /** @param texts all texts of the result @param images how many it may show */
  constructor(limit: ShownText, texts: readonly string[], images: number) {
    const { lines = Number.POSITIVE_INFINITY, per, withImages } = limit;
    const beside = withImages ? Math.max(withImages.most - images * withImages.each, 0) : limit.most;
    const most = Math.min(limit.most, beside);
    const isShared = per === 'result';
    const lengths = texts.map((text) => lengthOf(text, limit));
    this.#limit = limit;
    this.#most = isShared ? Math.max(share(lengths, most), LEAST.most) : most;
    this.#lines = isShared && limit.lines ? Math.max(share(texts.map(linesOf), lines), LEAST.lines) : lines;
  }

  /** The limit for a text that is too long; undefined for one that is shown whole. */
  limitFor(text: string): ShownText | undefined {
    const { unit, per, lines } = this.#limit;
    if (lengthOf(text, this.#limit) <= this.#most && (lines === undefined || linesOf(text) <= this.#lines)) {
      return undefined;
    }
    const most = Math.min(this.#most, this.#limit.most);
    return { most, unit, per, ...(lines !== undefined && { lines: Math.min(this.#lines, lines) }) };
  }
}

function lengthOf(text: string, { unit }: ShownText): number {
  return unit === 'bytes' ? Buffer.byteLength(text) : text.length;
}

/** The longest that each may be, so that all fit: short ones leave what they do not need to the others. */
function share(lengths: readonly number[], room: number): number {
  let left = room;
  const sorted = [...lengths].sort((one, other) => one - other);
  for (const [index, length] of sorted.entries()) {
    const each = Math.floor(left / (sorted.length - index));
    if (length > each) return each;
    left -= length;
  }
  return Number.POSITIVE_INFINITY;
}
