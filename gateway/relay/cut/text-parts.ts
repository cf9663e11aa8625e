import type { FileClaims } from '../../ports/file.js';
import type { Owner } from '../../ports/owner.js';
import { ByteStore } from '../../wire/json/byte-store.js';
import type { SlotSink } from '../../wire/json/reader.js';
import type { Cut } from './cut.js';
import type { NestedPlace } from './nested-places.js';

/** Discards a string. */
export const NOWHERE: SlotSink = { write: () => {}, end: () => {} };

/** A string inside a text that may be a file. */
export interface NestedCut {
  cut: Cut;
  /** It fills the whole string in the text's JSON, from quote to quote; in another text, the whole word. */
  whole: boolean;
  /** The text is JSON in a JSON string: what replaces it is escaped for both. */
  isInJson: boolean;
  /** Raw bytes in front of it, at the end of the part before, that belong to it: the head of a `data:` URI. */
  head: number;
  /** What that head says. */
  said?: FileClaims;
  /** What replaces it, in the spelling of the text. */
  replacement?: Buffer | undefined;
}

/** A string that can be a file. */
export interface NestedFile {
  nested: NestedCut;
  /** In the text's JSON; undefined when an equal key hides it, in JSON too large to be parsed, and in other texts. */
  place: NestedPlace | undefined;
  /** The text is not JSON as a whole. */
  isAmongWords: boolean;
}

export interface TextPartsOptions {
  /** Whose text it is. */
  owner: Owner;
  /** Bytes up to which a file stays inline. */
  limit: number;
  /** Undefined when the message has failed. */
  open: () => Cut | undefined;
  /** False when no more strings may leave the text. */
  mayOpen: () => boolean;
  /** Called with raw bytes taken into memory (+) or released (-). */
  account: (delta: number) => void;
}

/** A text out of which strings may be taken while it streams: the rest of it, and the strings, in order. */
export abstract class TextParts {
  readonly parts: (ByteStore | NestedCut)[] = [];
  readonly #account: (delta: number) => void;
  /** Raw bytes accounted for, and those taken into memory or released since. */
  #told = 0;
  #untold = 0;

  constructor({ account }: Pick<TextPartsOptions, 'account'>) {
    this.#account = account;
  }

  /** Releases everything; what comes then goes nowhere. */
  drop(): void {
    this.stop();
    this.parts.length = 0;
    this.#untold = -this.#told;
    this.tell();
  }

  /** Ends the reading. */
  protected abstract stop(): void;

  /** Notes raw bytes taken into memory or released. */
  protected note(delta: number): void {
    this.#untold += delta;
  }

  /** Accounts for what was noted, once for each chunk: a text may have a string for every few bytes. */
  protected tell(): void {
    const delta = this.#untold;
    this.#untold = 0;
    this.#told += delta;
    if (delta !== 0) this.#account(delta);
  }

  /**
   * Passes on what was kept to what accounts for it itself. It is released first: bytes that are in memory once and counted twice
   * would fail a message within its limit.
   */
  protected handOver(kept: ByteStore, to: SlotSink): void {
    const pieces = kept.pieces();
    this.note(-kept.size);
    kept.clear();
    this.tell();
    for (const piece of pieces) to.write(piece, 0, piece.length);
  }

  /** The raw text, if it is in memory as it came. */
  abstract get inline(): readonly Buffer[] | undefined;

  /** The strings in it that can be files: base64 to their ends. */
  abstract files(): Promise<readonly NestedFile[]>;

  /** True when a string has left the text. */
  get hasCuts(): boolean {
    return this.parts.length > 1;
  }

  /** Raw bytes of the text that are in memory. */
  get size(): number {
    return this.parts.reduce((sum, part) => sum + (part instanceof ByteStore ? part.size : 0), 0);
  }

  /** About how many characters the whole text has. */
  get length(): number {
    const gone = this.parts.reduce(
      (sum, part) => sum + (part instanceof ByteStore ? 0 : (part.cut.stored?.size ?? 0)),
      0,
    );
    return this.size + Math.ceil((gone * 4) / 3);
  }
}
