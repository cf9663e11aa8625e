import { ByteStore } from '../wire/json/byte-store.js';
import type { SlotSink } from '../wire/json/reader.js';
import type { Cut } from './cut.js';

const BACKSLASH = 0x5c;
const QUOTE = 0x22;
const OPEN_OBJECT = 0x7b;
const OPEN_ARRAY = 0x5b;

/** Bytes behind a string that are looked at for a colon. */
const LOOK = 256;

/** Characters that base64 has, in either alphabet. */
const BASE64 = new Uint8Array(256);
for (const byte of Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=-_')) BASE64[byte] = 1;

/** Takes what nobody wants any more. */
const NOWHERE: SlotSink = { write: () => {}, end: () => {} };

/** The rest of a string, and what makes it the key of a member. */
const KEY = /^\\"(?:\s|\\[nrt])*:/;

/** A string inside the text that may be a file. */
export interface NestedCut {
  cut: Cut;
  /** It stands between two quotes of the JSON in the text, and nothing else does. */
  whole: boolean;
  /** What takes its place, as the text spells it. */
  replacement?: Buffer;
}

export interface NestedCutOptions {
  /** Raw bytes from which on a run of base64 is cut. */
  min: number;
  /** Undefined when the message has failed. */
  open: () => Cut | undefined;
  /** What the string is instead when it cannot be JSON. */
  otherwise: () => SlotSink;
  /** Raw bytes taken into memory, or given back. */
  account: (delta: number) => void;
}

/**
 * A text that may itself be JSON with files in it: long runs of base64 between its quotes leave it while it streams,
 * the rest is held as it came. What it really is can be told when it is complete. A quote of the JSON inside is spelled
 * `\"` here, so that a run needs no unescaping: base64 has no character that JSON would escape.
 */
export class NestedCuts implements SlotSink {
  readonly parts: (ByteStore | NestedCut)[] = [];
  readonly #options: NestedCutOptions;
  #other: SlotSink | undefined;
  #begun = false;
  #plain: ByteStore;
  /** Of a run that may become a cut: its beginning, from earlier chunks. */
  readonly #run = new ByteStore();
  #state: 'plain' | 'run' | 'cut' = 'plain';
  #nested: NestedCut | undefined;
  /** The byte before is a backslash that escapes the next. */
  #escaping = false;
  /** Escaped backslashes directly before: after an odd number of them a quote is escaped in the JSON inside, too. */
  #backslashes = 0;
  /** The last thing seen is a cut run. */
  #justCut = false;

  constructor(options: NestedCutOptions) {
    this.#options = options;
    this.#plain = new ByteStore();
    this.parts.push(this.#plain);
  }

  /** The strings in it that are files: base64 to their ends, and the text is JSON. */
  files(): readonly NestedCut[] {
    const whole = this.parts.filter((part, index): part is NestedCut => {
      const next = this.parts[index + 1];
      if (part instanceof ByteStore || !(next instanceof ByteStore)) return false;
      const rest = next.slice(0, Math.min(next.size, LOOK)).toString('latin1');
      return part.whole && part.cut.stored !== undefined && !KEY.test(rest);
    });
    return whole.length > 0 && this.#isJson() ? whole : [];
  }

  write(chunk: Buffer, start: number, end: number): void {
    if (start === end) return;
    if (!this.#begun) {
      this.#begun = true;
      const first = chunk[start];
      if (first !== OPEN_OBJECT && first !== OPEN_ARRAY) this.#other = this.#options.otherwise();
    }
    if (this.#other) {
      this.#other.write(chunk, start, end);
      return;
    }
    for (let at = start; at < end && !this.#other; ) {
      at = this.#state === 'plain' ? this.#text(chunk, at, end) : this.#base64(chunk, at, end);
    }
    this.#plain.settle();
    this.#run.settle();
  }

  end(): void {
    if (this.#other) this.#other.end();
    else if (this.#state !== 'plain') this.#endRun();
  }

  /** Whether the text, its cut strings left out, is JSON. */
  #isJson(): boolean {
    const raw = this.parts.flatMap((part) => (part instanceof ByteStore ? part.pieces() : []));
    try {
      JSON.parse(JSON.parse(`"${Buffer.concat(raw).toString('utf8')}"`) as string);
      return true;
    } catch {
      return false;
    }
  }

  /** Up to the next quote that opens a string in the text. */
  #text(chunk: Buffer, start: number, end: number): number {
    let at = start;
    while (at < end && this.#state === 'plain') {
      const byte = chunk[at] as number;
      at += 1;
      if (this.#escaping) this.#escaped(byte);
      else if (byte === BACKSLASH) this.#escaping = true;
      else {
        this.#backslashes = 0;
        this.#justCut = false;
      }
    }
    this.#keep(chunk, start, at);
    return at;
  }

  #escaped(byte: number): void {
    this.#escaping = false;
    if (byte === BACKSLASH) this.#backslashes += 1;
    else {
      if (byte === QUOTE && this.#backslashes % 2 === 0) {
        if (this.#justCut && this.#nested) this.#nested.whole = true;
        this.#state = 'run';
      }
      this.#backslashes = 0;
    }
    this.#justCut = false;
  }

  #base64(chunk: Buffer, start: number, end: number): number {
    let at = start;
    while (at < end && BASE64[chunk[at] as number] === 1) at += 1;
    if (this.#state === 'run' && this.#run.size + at - start >= this.#options.min) this.#openCut();
    if (this.#state === 'cut') this.#nested?.cut.write(chunk, start, at);
    else if (at < end && this.#run.size === 0) this.#keep(chunk, start, at);
    else {
      this.#run.append(chunk, start, at);
      this.#options.account(at - start);
    }
    if (at < end) this.#endRun();
    return at;
  }

  #openCut(): void {
    const cut = this.#options.open();
    if (!cut) {
      this.#other = NOWHERE;
      return;
    }
    this.#nested = { cut, whole: false };
    this.parts.push(this.#nested);
    this.#state = 'cut';
    for (const piece of this.#run.pieces()) this.#nested.cut.write(piece, 0, piece.length);
    this.#forgetRun();
  }

  #endRun(): void {
    this.#justCut = this.#state === 'cut';
    if (this.#justCut) {
      this.#nested?.cut.end();
      this.#plain = new ByteStore();
      this.parts.push(this.#plain);
    } else {
      for (const piece of this.#run.pieces()) this.#keep(piece, 0, piece.length);
      this.#forgetRun();
    }
    this.#state = 'plain';
  }

  #keep(chunk: Buffer, start: number, end: number): void {
    if (start === end) return;
    this.#plain.append(chunk, start, end);
    this.#options.account(end - start);
  }

  #forgetRun(): void {
    const { size } = this.#run;
    this.#run.clear();
    if (size > 0) this.#options.account(-size);
  }
}
