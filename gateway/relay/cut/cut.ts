import { GatewayError } from '../../errors.js';
import type { Ingest, Stored } from '../../files/ingest/ingest.js';
import type { PartLease } from '../../files/ingest/part-lease.js';
import type { Base64Decoder } from '../../wire/base64/decode.js';
import type { WireError } from '../../wire/errors.js';
import type { SlotSink, SlotValue } from '../../wire/json/reader.js';
import { decoderOf, GatheredString, pieces, RAW_PIECE, type SpelledIn, wireErrorOrThrow } from './gathered-string.js';
import { Spelling } from './spelling.js';

/**
 * From this many raw bytes on, a string waits for a part's memory before it continues. It may still stay inline, but a
 * hundred strings that waited with `inlineLimit` bytes each would take more than all parts.
 */
const LEASED_FROM = 32 * 1024;

const PADDING = 0x3d;

export interface CutOptions extends SpelledIn {
  /** True where only a file may be; a string anywhere else may merely look like one. */
  definite: boolean;
  /** Decoded bytes up to which the string stays in memory, whatever it turns out to be. */
  inlineLimit: number;
  /** `limits.spool`, or more where a message has room for it, while it has kept so many raw bytes of the string's spelling. */
  spoolLimit: (kept: number) => number;
  /** Path of the string, for errors. */
  path: string;
  /** A part's memory, requested before it is known whether the string becomes a file. */
  lease: () => PartLease;
  /** Opens the file; called once, when the string has outgrown `inlineLimit`. */
  openFile: (lease: PartLease | undefined) => Ingest;
  /** Keeps the sealed file, or returns the file with the same bytes that this message has already. */
  keepFile: (ingest: Ingest) => Promise<Stored>;
  /** Accounts for raw bytes taken into memory (+) or released (-). Too many of them fail the message. */
  account: (delta: number) => void;
  /** Called when the message can no longer be forwarded. */
  fail: (error: unknown) => void;
}

/** The canonical beginning, from encoding the file again, and the spelling after it: together the original string. */
export interface PutBack {
  head: Buffer;
  /** How many of the file's first bytes are spelled canonically. */
  canonicalBytes: number;
  spelling: readonly Buffer[];
}

/**
 * One string on its way out of a message. A short one stays in memory unchanged (`inline`). A longer one is decoded
 * into a file piece by piece (`storing`, then `stored`). Until a dialect claims it, the cut is provisional: everything
 * that encoding the file again would not reproduce is kept in a `Spelling`, so that the string can be put back
 * unchanged. A string that stops being base64 halfway is `broken`: its canonical beginning is stored, the rest is
 * spelling.
 */
export class Cut implements SlotSink {
  readonly value: SlotValue;
  readonly path: string;

  readonly #options: CutOptions;
  readonly #decoder: Base64Decoder;
  readonly #spelling: Spelling;
  #state: 'gathering' | 'inline' | 'storing' | 'stored' | 'broken' | 'gone' = 'gathering';
  readonly #gathered: GatheredString;
  #ingest: Ingest | undefined;
  /** Raw bytes that arrived before the source could be stopped. */
  #backlog: Buffer[] = [];
  #ended = false;
  #fault: WireError | undefined;
  /** For a string that broke off inside a piece: how many of its file's first bytes are spelled canonically. */
  #canonicalBytes: number | undefined;
  /** Set while a string that may still stay inline waits for memory, or a file for its store. */
  #wait: Promise<void> | undefined;
  /** The memory that such a string waits for, or has. */
  #lease: PartLease | undefined;
  #stored: Stored | undefined;

  constructor(value: SlotValue, options: CutOptions) {
    this.value = value;
    this.path = options.path;
    this.#options = options;
    this.#decoder = decoderOf(options);
    this.#gathered = new GatheredString(options, options.inlineLimit, LEASED_FROM, options.account);
    this.#spelling = new Spelling(options.spoolLimit, options.account);
  }

  /** Set while the source must wait. Never rejects. */
  get pressure(): Promise<void> | undefined {
    return this.#wait;
  }

  /** Why the string is not base64, once that is known. */
  get fault(): WireError | undefined {
    return this.#fault ?? this.#gathered.fault;
  }

  /** Media type and name in a `data:` URI's head. */
  get dataUri(): { mimeType: string; name?: string } | undefined {
    return this.#gathered.dataUri;
  }

  /** The string, while it is still in memory; if the message broke off inside it, the part that arrived. */
  get inline(): readonly Buffer[] | undefined {
    return this.#state === 'inline' || this.#state === 'gathering' ? this.#gathered.pieces() : undefined;
  }

  /** The base64 of an inline string, without the head of a `data:` URI. */
  get inlineBody(): readonly Buffer[] | undefined {
    return this.inline && this.#gathered.body();
  }

  /** Raw bytes until more is known of what the string is. */
  get room(): number {
    return this.#state === 'gathering' ? this.#gathered.room : Number.POSITIVE_INFINITY;
  }

  /** True for a string in memory that is not base64, as far as it has come. */
  get isWords(): boolean {
    return this.#state === 'inline' && this.size === undefined;
  }

  /** The file, if the string was base64 to its end. */
  get stored(): Stored | undefined {
    return this.#state === 'stored' ? this.#stored : undefined;
  }

  /** True when it has left memory and can no longer be put back unchanged. */
  get lost(): boolean {
    return this.#stored !== undefined && this.#spelling.lost;
  }

  write(chunk: Buffer, from: number, end: number): void {
    let start = from;
    while (this.#state === 'gathering' && start < end) {
      // check after a fixed number of bytes, so that the outcome does not depend on how chunks were split
      const until = Math.min(end, start + this.#gathered.room);
      this.#gathered.hold(chunk, start, until);
      start = until;
      if (this.#gathered.room <= 0) this.#look();
    }
    if (start === end) return;
    switch (this.#state) {
      case 'inline':
        this.#gathered.hold(chunk, start, end);
        break;
      case 'storing':
        if (this.#wait) this.#backlog.push(chunk.subarray(start, end));
        else this.#decode(chunk, start, end);
        break;
      case 'broken':
        if (this.#wait) this.#backlog.push(chunk.subarray(start, end));
        else this.#spell(chunk.subarray(start, end));
        break;
    }
  }

  end(): void {
    this.#ended = true;
    if (this.#state === 'gathering') this.#stayInline();
    else if (!this.#wait && (this.#state === 'storing' || this.#state === 'broken')) this.#work(this.#finish());
  }

  /**
   * Size and digest of an inline string's bytes; undefined when it is not base64, or not the data URI that is required.
   */
  inspect(): { size: number; digest: string } | undefined {
    return this.#state === 'inline' ? this.#gathered.inspect() : undefined;
  }

  /** Bytes of a file, or of an inline string that has come to its end; undefined as of `inspect`. */
  get size(): number | undefined {
    return this.#state === 'inline' ? this.#gathered.measure() : this.stored?.size;
  }

  /** The bytes of an inline string, piece by piece. */
  decoded(): Iterable<Buffer> {
    return this.#gathered.decoded();
  }

  /** Moves an inline string into a file after all, because it is over its limit. */
  storeLate(): void {
    if (this.#state === 'inline' && this.#gathered.findHead()) this.#store();
  }

  /** How to write a string that has left memory as it came. @throws GatewayError `spool_full` */
  putBack(): { stored: Stored; how: PutBack } | undefined {
    if (!this.#stored) return undefined;
    if (this.#spelling.lost) throw this.#spoolFull();
    const whole = this.#decoder.canonical ? this.#stored.size : (this.#decoder.canonicalChars / 4) * 3;
    const canonicalBytes = this.#canonicalBytes ?? whole;
    return {
      stored: this.#stored,
      how: { head: this.#gathered.head, canonicalBytes, spelling: this.#spelling.pieces },
    };
  }

  /** Drops the string; an unfinished file is removed in the background. */
  drop(): void {
    this.#state = 'gone';
    this.#giveUpLease();
    this.#gathered.release();
    this.#spelling.clear();
    this.#backlog = [];
    this.#ingest?.abort();
    this.#ingest = undefined;
  }

  /** Decides what the string is so far, after it has grown. */
  #look(): void {
    const found = this.#gathered.look();
    if (found === 'text') this.#stayInline();
    else if (found === 'long') this.#store();
    else this.#wantLease();
  }

  #wantLease(): void {
    if (this.#lease) return;
    const lease = this.#options.lease();
    const settled = (error?: unknown) => {
      // dropped meanwhile, or the lease belongs to the file now
      if (this.#lease !== lease) return;
      this.#wait = undefined;
      if (error !== undefined) this.#options.fail(error);
    };
    this.#lease = lease;
    this.#wait = lease.reserve()?.then(() => settled(), settled);
  }

  #giveUpLease(): void {
    // a file's wait ends by itself
    if (!this.#lease) return;
    this.#wait = undefined;
    this.#lease.free();
    this.#lease = undefined;
  }

  #stayInline(): void {
    this.#state = 'inline';
    this.#giveUpLease();
  }

  #store(): void {
    let wait: Promise<void> | undefined;
    try {
      this.#ingest = this.#options.openFile(this.#lease);
      wait = this.#ingest.begin();
    } catch (error) {
      this.#giveUpLease();
      this.#options.fail(error);
      return;
    }
    this.#state = 'storing';
    // from now on the lease belongs to the file
    this.#lease = undefined;
    this.#backlog = this.#gathered.body();
    this.#gathered.release();
    this.#work(this.#drain(wait));
  }

  /** Runs work that must be awaited; its failure fails the message. */
  #work(task: Promise<void>): void {
    this.#wait = task
      .catch((error) => this.#options.fail(error))
      .finally(() => {
        this.#wait = undefined;
      });
  }

  /** Processes what arrived while it waited for memory or sent a part. */
  async #drain(wait: Promise<void> | undefined): Promise<void> {
    await wait;
    for (let next = this.#backlog.shift(); next; next = this.#backlog.shift()) {
      for (const piece of pieces([next])) {
        const part = this.#ingest?.begin();
        if (part) await part;
        if (this.#state === 'broken') this.#spell(piece);
        else if (this.#state === 'storing') this.#decodePiece(piece);
        await this.#ingest?.pressure;
      }
    }
    if (this.#ended) await this.#finish();
  }

  #decode(chunk: Buffer, start: number, end: number): void {
    try {
      const wait = this.#ingest?.begin();
      if (wait) {
        this.#backlog.push(chunk.subarray(start, end));
        this.#work(this.#drain(wait));
        return;
      }
      for (let at = start; at < end; at += RAW_PIECE) {
        const until = Math.min(end, at + RAW_PIECE);
        if (this.#state === 'broken') this.#spell(chunk.subarray(at, until));
        else this.#decodePiece(chunk.subarray(at, until));
        if (this.#ingest?.pressure) {
          if (until < end) this.#backlog.push(chunk.subarray(until, end));
          this.#work(this.#drain(this.#ingest.pressure));
          return;
        }
      }
    } catch (error) {
      this.#options.fail(error);
    }
  }

  #decodePiece(piece: Buffer): void {
    const ingest = this.#ingest;
    if (!ingest) return;
    const { canonical, chars: before } = this.#decoder;
    try {
      ingest.take(this.#decoder.push(piece, 0, piece.length, ingest.buffer, ingest.offset));
    } catch (error) {
      this.#fault = wireErrorOrThrow(error);
      this.#state = 'broken';
      const begun = canonical ? this.#spelling.tail(before - this.#decoder.canonicalChars) : undefined;
      if (begun && !begun.includes(PADDING)) this.#breakOff(ingest, begun, piece, this.#fault.offset - before);
      else {
        this.#spelling.leaveCanonical(this.#decoder, before);
        this.#spell(piece);
      }
      return;
    }
    this.#spelling.follow(this.#decoder, piece, before);
  }

  /**
   * The string stops being base64 at `bad` of this piece. What precedes it still goes into the file, so that the kept
   * part of the string does not depend on how chunks were split.
   * @param begun the unfinished quad before the piece
   */
  #breakOff(ingest: Ingest, begun: Buffer, piece: Buffer, bad: number): void {
    const text = Buffer.concat([begun, piece.subarray(0, bad)]);
    const decoder = decoderOf(this.#options);
    ingest.take(decoder.push(text, 0, text.length, ingest.buffer, ingest.offset));
    const before = (this.#decoder.canonicalChars / 4) * 3;
    const again = decoder.canonicalChars - (decoder.canonicalChars % 4);
    this.#canonicalBytes = before + (decoder.canonical ? decoder.bytes : (again / 4) * 3);
    this.#spell(text.subarray(again));
    this.#spell(piece.subarray(bad));
  }

  #spell(piece: Buffer): void {
    this.#spelling.push(piece);
    if (this.#spelling.lost) this.#options.fail(this.#spoolFull());
  }

  #spoolFull(): GatewayError {
    const { path, spoolLimit, definite } = this.#options;
    if (definite && this.#fault?.code === 'syntax') {
      return new GatewayError('upstream_invalid', { reason: this.#fault.message });
    }
    if (definite && this.#fault) return new GatewayError('file_not_base64', { path, reason: this.#fault.message });
    return new GatewayError('spool_full', {
      path,
      limit: 'limits.spool',
      allowed: spoolLimit(0),
      actual: this.#spelling.bytes,
    });
  }

  async #finish(): Promise<void> {
    const ingest = this.#ingest;
    if (!ingest) return;
    const part = this.#state === 'storing' ? ingest.begin() : undefined;
    if (part) await part;
    if (this.#state === 'storing') {
      const before = this.#decoder.chars;
      try {
        ingest.take(this.#decoder.finish(ingest.buffer, ingest.offset));
      } catch (error) {
        this.#fault = wireErrorOrThrow(error);
        this.#state = 'broken';
      }
      if (!this.#decoder.canonical || this.#fault) this.#spelling.leaveCanonical(this.#decoder, before);
    }
    this.#ingest = undefined;
    if (this.#state === 'storing') {
      this.#stored = await this.#options.keepFile(ingest);
      this.#state = 'stored';
    } else if (this.#state === 'broken') {
      this.#stored = await this.#options.keepFile(ingest);
    } else {
      ingest.abort();
    }
  }
}
