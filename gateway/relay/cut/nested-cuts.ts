import { randomUUID } from 'node:crypto';
import type { JsonValue } from '../../ports/json.js';
import { ByteStore } from '../../wire/json/byte-store.js';
import type { SlotSink } from '../../wire/json/reader.js';
import type { WeightLimits } from '../../wire/json/weigh.js';
import { JsonBegin } from './json-begin.js';
import { BOUNDARY, NestedChars, PENDING } from './nested-chars.js';
import { nestedJson, TOO_LARGE } from './nested-json.js';
import { MARK_END, markedPlaces, type NestedPlace, stringsOf } from './nested-places.js';
import { shortStrings } from './short-strings.js';
import { type NestedCut, type NestedFile, NOWHERE, TextParts, type TextPartsOptions } from './text-parts.js';
import { HEAD_END, headIn, IN_ADDRESS, type UriHead } from './uri-head.js';

const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const BREAKS: readonly number[] = [0x0a, 0x0d];

/** Bytes after a string that are searched for a colon. */
const LOOK = 256;

/**
 * Raw bytes by which a text must show whether it may be JSON. Nearly all of them are blanks, and one of 16 MiB of them that is read
 * again at its end takes 0.2 s of one turn.
 */
const MOST_BEGIN = 64 * 1024;

/** The characters of base64, in either alphabet. */
const BASE64 = new Uint8Array(256);
for (const byte of Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=-_')) BASE64[byte] = 1;

/** The text before the first colon of a `data:` URI. */
const DATA = 'data';

/** The end of a string that is the key of a member. */
const KEY = /^"\s*:/;

interface NestedCutOptions extends TextPartsOptions {
  /** Limits within which a text counts as JSON. */
  weight: WeightLimits;
  /** The sink for a string that cannot be JSON. */
  otherwise: () => SlotSink;
}

/**
 * A text that may itself be JSON with files in it. Strings of base64, or `data:` URIs, leave it while it streams; the
 * rest is held unchanged. What the text is can be decided only when it is complete. Writers of JSON differ in what they
 * escape, and here each character may be escaped twice, so bytes are read through both levels.
 */
export class NestedCuts extends TextParts implements SlotSink {
  readonly #options: NestedCutOptions;
  /** Raw length from which a run may exceed the limit. */
  readonly #min: number;
  readonly #chars = new NestedChars();
  #other: SlotSink | undefined;
  #state: 'begin' | 'plain' | 'run' | 'cut' = 'begin';
  readonly #begin = new JsonBegin();
  #plain = new ByteStore();
  /** The beginning, from earlier chunks, of a run that may become a cut. */
  readonly #run = new ByteStore();
  /** The run is still before the data of a `data:` URI. */
  #inHead = false;
  /** An escape inside a run, begun in an earlier chunk; it is not known yet whether it belongs to the run. */
  #escape: Buffer[] = [];
  #nested: NestedCut | undefined;
  /** How far in this chunk there is nothing to skip. */
  #slowUntil = 0;
  /** The run stands among the words of a string, behind what may be the head of a `data:` URI. */
  #isAmong = false;
  /** That head, once the run is long enough. */
  #head: UriHead | undefined;
  /** Behind the next place in this chunk where such a head may end. */
  #nextHead = 0;

  constructor(options: NestedCutOptions) {
    super(options);
    this.#options = options;
    this.#min = Math.ceil(options.limit / 3) * 4;
    this.parts.push(this.#plain);
  }

  get inline(): readonly Buffer[] | undefined {
    if (this.#other || this.hasCuts) return undefined;
    return this.#plain.pieces();
  }

  /** As of any text. One that only begins as JSON, such as lines of JSON, or JSON with a remark behind it, is words. */
  async files(): Promise<readonly NestedFile[]> {
    const whole = this.parts.filter((part, index): part is NestedCut => {
      const next = this.parts[index + 1];
      if (part instanceof ByteStore || !(next instanceof ByteStore)) return false;
      return part.whole && part.cut.stored !== undefined && !KEY.test(begin(next));
    });
    if (whole.length === 0) return [];
    const mark = randomUUID();
    const value = await this.#parse(new Map(whole.map((part, index) => [part, `${mark}${index}${MARK_END}`])));
    const isAmongWords = value === undefined;
    const places = isAmongWords || value === TOO_LARGE ? undefined : markedPlaces(value, mark);
    return whole.flatMap((nested, index) => {
      const place = places?.get(String(index));
      if (nested.head === 0) return [{ nested, place, isAmongWords }];
      // in the key of a member it stays, and what is around the words says nothing of it
      return places && !place ? [] : [{ nested, place: undefined, isAmongWords: true }];
    });
  }

  /**
   * Every string of the text's JSON, but those that have left it; undefined when it is not JSON, or too large to be
   * parsed.
   */
  async strings(): Promise<Iterable<readonly [text: string, place: NestedPlace]> | undefined> {
    const value = this.#other ? undefined : await this.#parse(new Map());
    return value === undefined || value === TOO_LARGE ? undefined : stringsOf(value);
  }

  write(chunk: Buffer, start: number, end: number): void {
    let at = start;
    this.#slowUntil = start;
    this.#nextHead = this.#state === 'plain' ? this.#splitHead(chunk, start, end) : start;
    while (at < end && !this.#other) {
      at = this.#skip(chunk, at, end);
      if (at === end) break;
      if (this.#state === 'begin') at = this.#decide(chunk, at, end);
      else at = this.#state === 'plain' ? this.#text(chunk, at, end) : this.#base64(chunk, at, end);
    }
    if (at < end) this.#other?.write(chunk, at, end);
    this.#plain.settle();
    this.#run.settle();
    this.tell();
  }

  end(): void {
    if (!this.#other && this.#state === 'begin') this.#giveUp();
    if (this.#other) this.#other.end();
    else if (this.#state !== 'plain') {
      this.#endRun(this.#isAmong);
      this.#keepEscape();
    }
    this.tell();
  }

  /** The text's value with these words for its cut strings; undefined when it is not JSON. */
  #parse(words: ReadonlyMap<NestedCut, string>): Promise<JsonValue | typeof TOO_LARGE | undefined> {
    const raw = this.parts.flatMap((part) =>
      part instanceof ByteStore ? part.pieces() : [Buffer.from(words.get(part) ?? '')],
    );
    return nestedJson(raw, this.#options.weight, this.#options.owner);
  }

  /** Reads up to the characters that show whether this may be JSON. */
  #decide(chunk: Buffer, start: number, end: number): number {
    // not at the end of a chunk: where a message is cut into chunks must not decide
    const until = Math.min(end, start + MOST_BEGIN - this.#plain.size);
    for (let at = start; at < until; at += 1) {
      const char = this.#chars.push(chunk[at] as number);
      const mayBe = char === PENDING ? undefined : this.#begin.push(char);
      if (mayBe === undefined) continue;
      if (!mayBe) {
        this.#giveUp();
        return start;
      }
      this.#keep(chunk, start, at + 1);
      this.#state = char === BOUNDARY ? 'run' : 'plain';
      return at + 1;
    }
    this.#keep(chunk, start, until);
    if (this.#plain.size >= MOST_BEGIN) this.#giveUp();
    return until;
  }

  /** The text is not JSON: passes what was kept of it to the other sink. */
  #giveUp(): void {
    this.#other = this.#options.otherwise();
    this.handOver(this.#plain, this.#other);
  }

  /** Passes over strings that are too short to be files: dense JSON has one for every few bytes. @returns where to go on */
  #skip(chunk: Buffer, start: number, end: number): number {
    const isBetween = this.#state === 'plain' || this.#state === 'run';
    if (!isBetween || start < this.#slowUntil || this.#chars.open || this.#escape.length > 0) return start;
    const begun = this.#state === 'run' ? this.#run.size : 0;
    const found = shortStrings(chunk, { start, end, begun, min: this.#min });
    if (!('to' in found)) {
      this.#slowUntil = found.notBefore;
      return start;
    }
    this.#endRun(false);
    this.#keep(chunk, start, found.to);
    this.#state = 'run';
    return found.to;
  }

  /** Behind the head of a `data:` URI, if it ends in this chunk and began in one before. */
  #splitHead(chunk: Buffer, start: number, end: number): number {
    const before = this.#plain.slice(Math.max(0, this.#plain.size - HEAD_END.length + 1), this.#plain.size);
    const joined = Buffer.concat([before, chunk.subarray(start, Math.min(end, start + HEAD_END.length - 1))]);
    const found = joined.indexOf(HEAD_END);
    return found < 0 ? start : start + found + HEAD_END.length - before.length;
  }

  /** Behind the next place where such a head may end; searched for once, however many strings are before it. */
  #headFrom(chunk: Buffer, start: number, end: number): number {
    if (this.#nextHead <= start) {
      const found = chunk.subarray(start, end).indexOf(HEAD_END);
      this.#nextHead = found < 0 ? Number.MAX_SAFE_INTEGER : start + found + HEAD_END.length;
    }
    return this.#nextHead;
  }

  /** Reads up to the next quote that opens a string in the text, or to the base64 of a `data:` URI among words. */
  #text(chunk: Buffer, start: number, last: number): number {
    const end = Math.min(last, this.#headFrom(chunk, start, last));
    let at = start;
    while (at < end && this.#state === 'plain') {
      if (!this.#chars.open) {
        const next = chunk.indexOf(BACKSLASH, at);
        if (next < 0 || next >= end) {
          at = end;
          break;
        }
        at = next;
      }
      if (this.#chars.push(chunk[at] as number) === BOUNDARY) this.#state = 'run';
      at += 1;
    }
    this.#keep(chunk, start, at);
    if (at === this.#nextHead && this.#state === 'plain' && !this.#chars.open) {
      this.#isAmong = true;
      this.#state = 'run';
    }
    return at;
  }

  #base64(chunk: Buffer, start: number, end: number): number {
    let at = start;
    // where the current escape begins in this chunk
    let opened = start;
    while (at < end) {
      const byte = chunk[at] as number;
      if (!this.#chars.open) {
        if (BASE64[byte] === 1 || (byte !== BACKSLASH && this.#isHead(byte, chunk, start, at))) {
          at += 1;
          continue;
        }
        if (byte !== BACKSLASH) {
          this.#take(chunk, start, at, true);
          this.#endRun(this.#isAmong && !IN_ADDRESS.has(byte));
          return at;
        }
        opened = at;
      }
      const char = this.#chars.push(byte);
      at += 1;
      if (char === PENDING) continue;
      if (char === BOUNDARY || !this.#belongs(char)) {
        this.#take(chunk, start, opened, true);
        this.#endRun(char === BOUNDARY || this.#isAmong);
        this.#keepEscape();
        this.#keep(chunk, opened, at);
        return at;
      }
      for (const piece of this.#escape) this.#take(piece, 0, piece.length, false);
      this.#escape = [];
    }
    if (!this.#chars.open) opened = end;
    this.#take(chunk, start, opened, false);
    if (opened < end) this.#escape.push(Buffer.from(chunk.subarray(opened, end)));
    return end;
  }

  /** True while a non-base64 character still belongs to the `data:` head. */
  #isHead(byte: number, chunk: Buffer, from: number, at: number): boolean {
    if (this.#inHead) {
      this.#inHead = byte !== COMMA;
      return true;
    }
    if (byte !== COLON || this.#state !== 'run' || this.#isAmong || this.#run.size + at - from !== DATA.length)
      return false;
    const begun = Buffer.concat([...this.#run.pieces(), chunk.subarray(from, at)]).toString('latin1');
    this.#inHead = begun.toLowerCase() === DATA;
    return this.#inHead;
  }

  /** True when an escaped character may be part of a file: base64 is often broken into lines. */
  #belongs(char: number): boolean {
    // among words, a word may follow a line break
    if (!this.#inHead) return BASE64[char] === 1 || (!this.#isAmong && BREAKS.includes(char));
    this.#inHead = char !== COMMA;
    return true;
  }

  /** @param isLast this is the end of the run */
  #take(chunk: Buffer, start: number, end: number, isLast: boolean): void {
    if (start === end) return;
    const isLong = this.#state === 'run' && this.#run.size + end - start >= this.#min;
    if (isLong && this.#mayBeFile() && this.#options.mayOpen()) this.#openCut();
    if (this.#state === 'cut') this.#nested?.cut.write(chunk, start, end);
    else if (isLast && this.#run.size === 0) this.#keep(chunk, start, end);
    else {
      this.#run.append(chunk, start, end);
      this.note(end - start);
    }
  }

  /** Among words only what has a head is one. It is looked for once: a text may have much that ends like a head. */
  #mayBeFile(): boolean {
    if (!this.#isAmong) return true;
    this.#head ??= headIn(this.#plain, true);
    return this.#head.head > 0;
  }

  #openCut(): void {
    this.tell();
    const cut = this.#options.open();
    if (!cut) {
      this.#other = NOWHERE;
      return;
    }
    this.#nested = { cut, whole: false, isInJson: true, ...(this.#head ?? { head: 0 }) };
    this.parts.push(this.#nested);
    this.#state = 'cut';
    this.handOver(this.#run, cut);
  }

  #endRun(whole: boolean): void {
    if (this.#state === 'cut' && this.#nested) {
      const { cut } = this.#nested;
      this.#nested.whole = whole;
      cut.end();
      // escapes and line breaks make a string look longer than it is, so it is not checked continually
      if (whole && (cut.size ?? 0) > this.#options.limit) cut.storeLate();
      this.#plain = new ByteStore();
      this.parts.push(this.#plain);
    } else {
      for (const piece of this.#run.pieces()) this.#keep(piece, 0, piece.length);
      this.note(-this.#run.size);
      this.#run.clear();
    }
    this.#inHead = false;
    this.#isAmong = false;
    this.#head = undefined;
    this.#state = 'plain';
  }

  #keepEscape(): void {
    for (const piece of this.#escape) this.#keep(piece, 0, piece.length);
    this.#escape = [];
  }

  #keep(chunk: Buffer, start: number, end: number): void {
    if (start === end) return;
    this.#plain.append(chunk, start, end);
    this.note(end - start);
  }

  protected stop(): void {
    this.#other = NOWHERE;
    this.#plain = new ByteStore();
    this.#run.clear();
  }
}

/** The first characters of a text, without the escapes of the JSON string around it. */
function begin(raw: ByteStore): string {
  return raw
    .slice(0, Math.min(raw.size, LOOK))
    .toString('latin1')
    .replaceAll(/\\(?:u(....)|(.))/gs, (_all, code: string | undefined, char: string) => {
      if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16));
      return 'nrt'.includes(char) ? '\n' : char;
    });
}
