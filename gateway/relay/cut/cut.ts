import { GatewayError } from '../../errors.js';
import type { Ingest, Stored } from '../../files/ingest/ingest.js';
import type { PartLease } from '../../files/ingest/part-lease.js';
import { Base64Decoder } from '../../wire/base64/decode.js';
import type { WireError } from '../../wire/errors.js';
import type { SlotSink, SlotValue } from '../../wire/json/reader.js';
import { GatheredString, pieces, RAW_PIECE, type SpelledIn, wireErrorOrThrow } from './gathered-string.js';
import { Spelling } from './spelling.js';

/**
 * Raw bytes from which on a string waits for a part's memory before it goes on. It may yet stay inline, but a hundred of
 * them that waited with `inlineLimit` bytes each in their hands would take more than all parts.
 */
const LEASED_FROM = 32 * 1024;

const PADDING = 0x3d;

export interface CutOptions extends SpelledIn {
  /** True where only a file may stand; a string anywhere else may just look like one. */
  definite: boolean;
  /** Decoded bytes up to which the string stays in memory whatever it turns out to be. */
  inlineLimit: number;
  /** `limits.spool`. */
  spoolLimit: number;
  /** Where the string stands, for errors. */
  path: string;
  /** A part's memory, asked for before it is known whether the string becomes a file. */
  lease: () => PartLease;
  /** Opens the file; called once, when the string has outgrown `inlineLimit`. */
  openFile: (lease: PartLease | undefined) => Ingest;
  /** Keeps the sealed file, or gives the one of the same bytes that this message has already. */
  keepFile: (ingest: Ingest) => Promise<Stored>;
  /** Raw bytes taken into memory, or given back. Too many of them fail the message. */
  account: (delta: number) => void;
  /** The message cannot be forwarded any more. */
  fail: (error: unknown) => void;
}

/** What encoding the file again gives, and what follows it: together the string as it came. */
export interface PutBack {
  head: Buffer;
  /** How many of the file's first bytes are spelled canonically. */
  canonicalBytes: number;
  spelling: readonly Buffer[];
}

/**
 * One string on its way out of a message. A short one stays in memory as it came (`inline`). A longer one is decoded
 * into a file piece by piece (`storing`, then `stored`). As long as nobody has claimed it the cut is provisional: what
 * encoding the file again would not give is kept in a `Spelling`, so that the string can be put back unchanged. A
 * string that stops being base64 on the way is `broken`: its canonical beginning is stored, the rest is spelling.
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
  /** Raw bytes that came while the source could not be stopped yet. */
  #backlog: Buffer[] = [];
  #ended = false;
  #fault: WireError | undefined;
  /** Of a string that broke off inside a piece: its file's first bytes that are spelled canonically. */
  #canonicalBytes: number | undefined;
  #pressure: Promise<void> | undefined;
  #lease: PartLease | undefined;
  /** Set while a string waits for memory that may yet stay inline. */
  #gate: Promise<void> | undefined;
  #stored: Stored | undefined;

  constructor(value: SlotValue, options: CutOptions) {
    this.value = value;
    this.path = options.path;
    this.#options = options;
    this.#decoder = new Base64Decoder({ nested: options.nested ?? false });
    this.#gathered = new GatheredString(options, options.inlineLimit, LEASED_FROM, options.account);
    this.#spelling = new Spelling(options.spoolLimit, options.account);
  }

  /** Set while the source must wait. Never rejects. */
  get pressure(): Promise<void> | undefined {
    return this.#pressure ?? this.#gate;
  }

  /** Why the string is not base64, once that is known. */
  get fault(): WireError | undefined {
    return this.#fault ?? this.#gathered.fault;
  }

  /** Media type and name in a `data:` URI's head. */
  get dataUri(): { mimeType: string; name?: string } | undefined {
    return this.#gathered.dataUri;
  }

  /** The string, where it is still in memory; all of it that there is, when the message broke off inside. */
  get inline(): readonly Buffer[] | undefined {
    return this.#state === 'inline' || this.#state === 'gathering' ? this.#gathered.pieces() : undefined;
  }

  /** The base64 of an inline string, without the head of a `data:` URI. */
  get inlineBody(): readonly Buffer[] | undefined {
    return this.inline && this.#gathered.body();
  }

  /** The file, where the string was base64 to its end. */
  get stored(): Stored | undefined {
    return this.#state === 'stored' ? this.#stored : undefined;
  }

  /** It has left memory and cannot be written again as it came. */
  get lost(): boolean {
    return this.#stored !== undefined && this.#spelling.lost;
  }

  write(chunk: Buffer, from: number, end: number): void {
    let start = from;
    while (this.#state === 'gathering' && start < end) {
      // looked at after so many bytes, however they were cut on the way: else the outcome depended on that
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
        if (this.#pressure) this.#backlog.push(chunk.subarray(start, end));
        else this.#decode(chunk, start, end);
        break;
      case 'broken':
        if (this.#pressure) this.#backlog.push(chunk.subarray(start, end));
        else this.#spell(chunk.subarray(start, end));
        break;
    }
  }

  end(): void {
    this.#ended = true;
    if (this.#state === 'gathering') this.#stayInline();
    else if (!this.#pressure && (this.#state === 'storing' || this.#state === 'broken')) this.#work(this.#finish());
  }

  /** Size and digest of an inline string's bytes; undefined when it is not base64, or no data URI where one is due. */
  inspect(): { size: number; digest: string } | undefined {
    return this.#state === 'inline' ? this.#gathered.inspect() : undefined;
  }

  /** Moves an inline string that is over its limit after all into a file. */
  storeLate(): void {
    if (this.#state === 'inline' && this.#gathered.findHead()) this.#store();
  }

  /** How to write the string again as it came, where it has left memory. @throws GatewayError `spool_full` */
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

  /** Forgets the string; what there is of an unfinished file is removed from now on. */
  drop(): void {
    this.#state = 'gone';
    this.#giveUpLease();
    this.#gathered.release();
    this.#spelling.clear();
    this.#backlog = [];
    this.#ingest?.abort();
    this.#ingest = undefined;
  }

  /** The string has grown: what is it so far? */
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
      // given up meanwhile, or the file's now
      if (this.#lease !== lease) return;
      this.#gate = undefined;
      if (error !== undefined) this.#options.fail(error);
    };
    this.#lease = lease;
    this.#gate = lease.reserve()?.then(() => settled(), settled);
  }

  #giveUpLease(): void {
    this.#gate = undefined;
    this.#lease?.free();
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
    // the file's from now on
    this.#lease = undefined;
    this.#gate = undefined;
    this.#backlog = this.#gathered.body();
    this.#gathered.release();
    this.#work(this.#drain(wait));
  }

  /** Runs what must be waited for; a failure is the message's. */
  #work(task: Promise<void>): void {
    this.#pressure = task
      .catch((error) => this.#options.fail(error))
      .finally(() => {
        this.#pressure = undefined;
      });
  }

  /** Works off what came in while memory was awaited or a part was being sent. */
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
   * The string stops being base64 at `bad` of this piece. What stands before that still goes into the file, so that
   * what has to be kept of the string does not depend on how it was cut on the way.
   * @param begun the unfinished quad before the piece
   */
  #breakOff(ingest: Ingest, begun: Buffer, piece: Buffer, bad: number): void {
    const text = Buffer.concat([begun, piece.subarray(0, bad)]);
    const decoder = new Base64Decoder({ nested: this.#options.nested ?? false });
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
      allowed: spoolLimit,
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
