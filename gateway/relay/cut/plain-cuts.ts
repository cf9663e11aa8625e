import { SCHEME } from '../../wire/data-uri.js';
import { ByteStore } from '../../wire/json/byte-store.js';
import type { SlotSink } from '../../wire/json/reader.js';
import { BASE64, Base64Lines, isLineBreak, mayBeLine } from './equal-lines.js';
import { charOf, escapeAt, withoutEscapes } from './escapes.js';
import { beginsAsFormat, MOST_BEGIN, rawBeginsAsFormat } from './format-begin.js';
import { type NestedCut, type NestedFile, NOWHERE, TextParts, type TextPartsOptions } from './text-parts.js';
import { headIn, IN_ADDRESS } from './uri-head.js';

const BACKSLASH = 0x5c;
const QUOTE = 0x22;
const U = 0x75;
const PADDING = 0x3d;

/** Bytes that end a word wherever they are: none of them is part of an escape. */
const BETWEEN = new Uint8Array(256);
for (const [byte, isBase64] of BASE64.entries()) {
  if (isBase64 === 0 && byte !== BACKSLASH && byte !== QUOTE) BETWEEN[byte] = 1;
}

/** Characters with which a word only goes on: what follows them need not be looked at. */
const WITHIN = BASE64.slice();
WITHIN[PADDING] = 0;

interface PlainCutOptions extends TextPartsOptions {
  /** The sink for a text that is a `data:` URI from its beginning. */
  whole: () => SlotSink;
}

/**
 * A text for people that may have files among its words: `![chart](data:image/png;base64,…)`, `<img src="data:…">`, a
 * cell of a table. A word of base64 that is long enough leaves the text while it streams. Behind a line break the text may go
 * on with what looks like base64: so each line has its own words, but where base64 that begins as a known format goes on in
 * lines of equal length, as the command `base64` prints it.
 */
export class PlainCuts extends TextParts implements SlotSink {
  readonly #options: PlainCutOptions;
  /** Raw length from which a word may exceed the limit. */
  readonly #min: number;
  #other: SlotSink | undefined;
  /** The first bytes, until they show whether the text begins as a `data:` URI. */
  #first: Buffer | undefined = Buffer.alloc(0);
  #plain = new ByteStore();
  /** The beginning, from earlier chunks, of a word that may become a cut. */
  readonly #word = new ByteStore();
  #nested: NestedCut | undefined;
  /** Whether a word that is long enough may be a file, once that is known. */
  #isFile: boolean | undefined;
  /** The word has come to its padding. */
  #isPadded = false;
  /** The word goes on in lines. */
  #lines: Base64Lines | undefined;
  /** What came behind the last line that is known to belong to the word. */
  readonly #pending = new ByteStore();
  /** The beginning of an escape that the last chunk broke off in. */
  #escape: Buffer = Buffer.alloc(0);

  constructor(options: PlainCutOptions) {
    super(options);
    this.#options = options;
    // also where nothing stays inline, a word without a character is not a file
    this.#min = Math.max(1, Math.ceil(options.limit / 3) * 4);
    this.parts.push(this.#plain);
  }

  get inline(): readonly Buffer[] | undefined {
    if (this.#other || this.hasCuts) return undefined;
    return this.#plain.pieces();
  }

  async files(): Promise<readonly NestedFile[]> {
    return this.parts.flatMap((part) =>
      part instanceof ByteStore || !part.whole || !part.cut.stored
        ? []
        : [{ nested: part, place: undefined, isAmongWords: true }],
    );
  }

  write(chunk: Buffer, start: number, end: number): void {
    if (this.#other) this.#other.write(chunk, start, end);
    else if (this.#first) this.#begin(this.#first, chunk, start, end);
    else this.#read(chunk, start, end);
  }

  end(): void {
    if (this.#first) this.#follow(this.#first, this.#options.whole());
    if (this.#other) {
      this.#other.end();
      return;
    }
    if (this.#lines) this.#endLines(this.#lines.end());
    this.#endWord();
    this.#keep(this.#escape, 0, this.#escape.length);
    this.tell();
  }

  #begin(first: Buffer, chunk: Buffer, start: number, end: number): void {
    const until = Math.min(end, start + SCHEME.length - first.length);
    const known = Buffer.concat([first, chunk.subarray(start, until)]);
    if (known.length < SCHEME.length) {
      this.#first = known;
      return;
    }
    if (mayBeginUri(known)) this.#follow(known, this.#options.whole());
    else {
      this.#first = undefined;
      this.#read(known, 0, known.length);
    }
    if (until < end) this.write(chunk, until, end);
  }

  /** Another sink takes the text from its beginning. */
  #follow(known: Buffer, other: SlotSink): void {
    this.#first = undefined;
    this.#other = other;
    if (known.length > 0) other.write(known, 0, known.length);
  }

  #read(piece: Buffer, from: number, until: number): void {
    if (this.#escape.length === 0) this.#words(piece, from, until);
    else {
      const joined = Buffer.concat([this.#escape, piece.subarray(from, until)]);
      this.#escape = Buffer.alloc(0);
      this.#words(joined, 0, joined.length);
    }
    this.#plain.settle();
    this.#word.settle();
    this.#pending.settle();
    this.tell();
  }

  /**
   * Passes over words that are too short to be files: looks at a few bytes in `min`, from the right, where words are those
   * of a text. @returns where the first one begins that may be longer
   */
  #skip(chunk: Buffer, start: number, end: number): number {
    if (this.#nested || this.#lines) return start;
    let begun = start;
    let least = this.#min - this.#word.size;
    for (;;) {
      const isLast = begun + least >= end;
      let at = (isLast ? end : begun + least) - 1;
      while (at >= begun && BETWEEN[chunk[at] as number] === 0) at -= 1;
      if (at < begun) return begun;
      begun = at + 1;
      least = this.#min;
      if (isLast) return begun;
    }
  }

  /** Reads words to the end of a chunk. */
  #words(chunk: Buffer, start: number, end: number): void {
    let begun = this.#skip(chunk, start, end);
    if (begun > start) this.#endWord();
    let kept = start;
    let at = begun;
    const lines = () => {
      at = this.#readLines(chunk, at, end);
      kept = at;
      begun = at;
    };
    if (this.#lines) lines();
    const endWord = (behind: number, next?: number) => {
      if (this.#isLong(at - begun)) {
        this.#keep(chunk, kept, begun);
        kept = this.#take(chunk, begun, at) ? at : begun;
      }
      this.#endWord(next);
      begun = behind;
    };
    while (at < end && !this.#other) {
      if (!this.#isPadded) at = endOfRun(chunk, at, end);
      if (at === end) break;
      const byte = chunk[at] as number;
      const length = byte === BACKSLASH ? escapeAt(chunk, at, end) : 1;
      if (length === 0) break;
      const char = byte === BACKSLASH ? charOf(chunk, at) : byte;
      if (isLineBreak(char) && this.#beginsLines(chunk, begun, at)) {
        this.#keep(chunk, kept, begun);
        this.#pending.append(chunk, begun, at);
        this.note(at - begun);
        this.#takeLine();
        lines();
        continue;
      }
      if (BASE64[char] !== 1) endWord(at + length, char);
      else if (char === PADDING) this.#isPadded = true;
      else if (this.#isPadded) endWord(at);
      at += length;
    }
    if (this.#other || this.#lines) return;
    this.#keep(chunk, kept, begun);
    if (!this.#isLong(at - begun) || !this.#take(chunk, begun, at)) {
      this.#word.append(chunk, begun, at);
      this.note(at - begun);
    }
    if (at < end) this.#escape = Buffer.from(chunk.subarray(at, end));
  }

  /** True when a word that goes on for so many bytes in this chunk is on its way out, or long enough to be. */
  #isLong(length: number): boolean {
    return this.#nested !== undefined || this.#word.size + length >= this.#min;
  }

  /**
   * Takes a part of a long word out of the text, all before which is kept.
   * @returns false for one that is not a file: it stays, and with it a text that a host may have to be shown by its beginning
   */
  #take(chunk: Buffer, start: number, end: number): boolean {
    if (!this.#nested) {
      this.#isFile ??= this.#beginsFile(chunk.subarray(start, end));
      if (!this.#isFile || !this.#options.mayOpen()) return false;
      this.#openCut();
    }
    this.#nested?.cut.write(chunk, start, end);
    return true;
  }

  /** Whether the word that a line break ends is the first line of a file. @param begun where the rest of it begins */
  #beginsLines(chunk: Buffer, begun: number, at: number): boolean {
    if (this.#nested || this.#isPadded || !mayBeLine(this.#word.size + at - begun)) return false;
    const raw = Buffer.concat([this.#word.slice(0, this.#word.size), chunk.subarray(begun, at)]);
    const line = withoutEscapes(raw.toString('latin1'));
    this.#lines = beginsAsFormat(line) ? Base64Lines.behind(line) : undefined;
    return this.#lines !== undefined;
  }

  /** Reads lines of base64. @returns where the words of the text go on */
  #readLines(chunk: Buffer, start: number, end: number): number {
    const lines = this.#lines;
    let held = start;
    let at = start;
    const hold = () => {
      this.#pending.append(chunk, held, at);
      this.note(at - held);
      held = at;
    };
    while (lines && at < end && !this.#other) {
      const byte = chunk[at] as number;
      const length = byte === BACKSLASH ? escapeAt(chunk, at, end) : 1;
      if (length === 0) break;
      const found = lines.push(byte === BACKSLASH ? charOf(chunk, at) : byte);
      if (found) hold();
      if (found === 'line') this.#takeLine();
      else if (found) {
        this.#endLines(found === 'last');
        return at;
      }
      at += length;
    }
    hold();
    if (at < end) this.#escape = Buffer.from(chunk.subarray(at, end));
    return end;
  }

  /** A line belongs to the word. */
  #takeLine(): void {
    if (this.#nested) this.handOver(this.#pending, this.#nested.cut);
    else for (const piece of this.#pending.pieces()) this.#word.append(piece, 0, piece.length);
    this.#pending.clear();
    if (!this.#nested && this.#word.size >= this.#min && this.#options.mayOpen()) this.#openCut();
  }

  /** @param isLast what is pending is the last line */
  #endLines(isLast: boolean): void {
    this.#lines = undefined;
    if (isLast) this.#takeLine();
    if (this.#other) return;
    this.#endWord();
    const rest = Buffer.concat(this.#pending.pieces());
    this.note(-rest.length);
    this.#pending.clear();
    // the line may be the beginning of a longer word
    this.#words(rest, 0, rest.length);
  }

  /** @param rest of the word, behind what has come of it before */
  #beginsFile(rest: Buffer): boolean {
    if (headIn(this.#plain).head > 0) return true;
    return rawBeginsAsFormat(this.#word.slice(0, Math.min(this.#word.size, MOST_BEGIN)), rest);
  }

  #openCut(): void {
    this.tell();
    const cut = this.#options.open();
    if (!cut) {
      this.#other = NOWHERE;
      return;
    }
    this.#nested = { cut, whole: false, isInJson: false, ...headIn(this.#plain) };
    this.parts.push(this.#nested);
    this.handOver(this.#word, cut);
  }

  /** @param next the character directly behind it */
  #endWord(next?: number): void {
    this.#isPadded = false;
    this.#isFile = undefined;
    if (this.#nested) {
      const { cut } = this.#nested;
      this.#nested.whole = next === undefined || !IN_ADDRESS.has(next);
      cut.end();
      // escapes make a word look longer than it is
      if ((cut.size ?? 0) > this.#options.limit) cut.storeLate();
      this.#nested = undefined;
      this.#plain = new ByteStore();
      this.parts.push(this.#plain);
    } else if (this.#word.size > 0) {
      const { size } = this.#word;
      for (const piece of this.#word.pieces()) this.#keep(piece, 0, piece.length);
      this.note(-size);
      this.#word.clear();
    }
  }

  #keep(chunk: Buffer, start: number, end: number): void {
    if (start === end) return;
    this.#plain.append(chunk, start, end);
    this.note(end - start);
  }

  protected stop(): void {
    this.#other = NOWHERE;
    this.#first = undefined;
    this.#plain = new ByteStore();
    this.#word.clear();
    this.#pending.clear();
    this.#lines = undefined;
  }
}

/** Whether a text begins with `data:`, as far as its first five bytes say: its letters may be escapes, as `\u0064`. */
function mayBeginUri(known: Buffer): boolean {
  const text = known.toString('latin1').toLowerCase();
  const slash = known.indexOf(BACKSLASH);
  if (slash < 0) return text === SCHEME;
  return SCHEME.startsWith(text.slice(0, slash)) && (slash + 1 === known.length || known[slash + 1] === U);
}

/** Position of the first byte with which a word does more than go on. */
function endOfRun(chunk: Buffer, start: number, end: number): number {
  let at = start;
  while (at < end && WITHIN[chunk[at] as number] === 1) at += 1;
  return at;
}
