import { createHash } from 'node:crypto';
import { GatewayError } from '../errors.js';
import { type Ingest, MAX_PIECE, type Stored } from '../files/ingest.js';
import { Base64Decoder } from '../wire/base64/decode.js';
import { parseDataUriHead } from '../wire/data-uri.js';
import { WireError } from '../wire/errors.js';
import { ByteStore } from '../wire/json/byte-store.js';
import type { SlotSink, SlotValue } from '../wire/json/reader.js';
import { Spelling } from './spelling.js';

/** Raw bytes decoded in one step: a piece never outgrows the slack of a part buffer. */
const RAW_PIECE = Math.floor(MAX_PIECE / 3) * 4;

/** Raw bytes from one look at an unusual spelling to the next. */
const LOOK_STEP = 64 * 1024;

const PADDING = 0x3d;

/** A data URI's head is at most this long; what has none by then is ordinary text. */
const MAX_HEAD = 4096;

export interface CutOptions {
  encoding: 'base64' | 'dataUri';
  /** True where only a file may stand; a string anywhere else may just look like one. */
  definite: boolean;
  /** Decoded bytes up to which the string stays in memory whatever it turns out to be. */
  inlineLimit: number;
  /** `limits.spool`. */
  spoolLimit: number;
  /** Where the string stands, for errors. */
  path: string;
  /** Opens the file; called once, when the string has outgrown `inlineLimit`. */
  openFile: () => Ingest;
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
  /** Media type and name in a `data:` URI's head. */
  dataUri: { mimeType: string; name?: string } | undefined;

  readonly #options: CutOptions;
  readonly #decoder = new Base64Decoder();
  readonly #spelling: Spelling;
  #state: 'gathering' | 'inline' | 'storing' | 'stored' | 'broken' | 'gone' = 'gathering';
  readonly #raw = new ByteStore();
  #nextLook: number;
  /** Decodes what is in memory, each byte once, to know how long it is. */
  readonly #probe = new Base64Decoder();
  /** Raw bytes that have been looked at. */
  #looked = 0;
  #head: Buffer = Buffer.alloc(0);
  #ingest: Ingest | undefined;
  /** Raw bytes that came while the source could not be stopped yet. */
  #backlog: Buffer[] = [];
  #ended = false;
  #fault: WireError | undefined;
  /** Of a string that broke off inside a piece: its file's first bytes that are spelled canonically. */
  #canonicalBytes: number | undefined;
  #pressure: Promise<void> | undefined;
  #stored: Stored | undefined;

  constructor(value: SlotValue, options: CutOptions) {
    this.value = value;
    this.path = options.path;
    this.#options = options;
    this.#nextLook = lengthPast(options.inlineLimit);
    this.#spelling = new Spelling(options.spoolLimit, options.account);
  }

  /** Set while the source must wait. Never rejects. */
  get pressure(): Promise<void> | undefined {
    return this.#pressure;
  }

  /** Why the string is not base64, once that is known. */
  get fault(): WireError | undefined {
    return this.#fault;
  }

  /** The string, where it is still in memory; all of it that there is, when the message broke off inside. */
  get inline(): readonly Buffer[] | undefined {
    return this.#state === 'inline' || this.#state === 'gathering' ? this.#raw.pieces() : undefined;
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
      const until = Math.min(end, start + this.#nextLook + 1 - this.#raw.size);
      this.#hold(chunk, start, until);
      start = until;
      if (this.#raw.size > this.#nextLook) this.#look();
    }
    if (start === end) return;
    switch (this.#state) {
      case 'inline':
        this.#hold(chunk, start, end);
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
    if (this.#state === 'gathering') this.#state = 'inline';
    else if (!this.#pressure && (this.#state === 'storing' || this.#state === 'broken')) this.#work(this.#finish());
  }

  /** Size and digest of an inline string's bytes; undefined when it is not base64, or no data URI where one is due. */
  inspect(): { size: number; digest: string } | undefined {
    if (this.#state !== 'inline' || !this.#findHead()) return undefined;
    const hash = createHash('sha256');
    const decoder = new Base64Decoder();
    if (!this.#tryDecode(decoder, this.#body(), (bytes) => hash.update(bytes))) return undefined;
    const rest = Buffer.allocUnsafe(3);
    try {
      hash.update(rest.subarray(0, decoder.finish(rest, 0)));
    } catch (error) {
      this.#fault = wireErrorOrThrow(error);
      return undefined;
    }
    return { size: decoder.bytes, digest: hash.digest('base64url') };
  }

  /** Moves an inline string that is over its limit after all into a file. */
  storeLate(): void {
    if (this.#state === 'inline' && this.#findHead()) this.#store(this.#body());
  }

  /** How to write the string again as it came, where it has left memory. @throws GatewayError `spool_full` */
  putBack(): { stored: Stored; how: PutBack } | undefined {
    if (!this.#stored) return undefined;
    if (this.#spelling.lost) throw this.#spoolFull();
    const whole = this.#decoder.canonical ? this.#stored.size : (this.#decoder.canonicalChars / 4) * 3;
    const canonicalBytes = this.#canonicalBytes ?? whole;
    return { stored: this.#stored, how: { head: this.#head, canonicalBytes, spelling: this.#spelling.pieces } };
  }

  /** Forgets the string and leaves nothing of an unfinished file behind. */
  async drop(): Promise<void> {
    this.#state = 'gone';
    this.#release();
    this.#spelling.clear();
    this.#backlog = [];
    await this.#pressure;
    await this.#ingest?.abort();
    this.#ingest = undefined;
  }

  /** The string has grown past its limit as text; is it a file, and is it past the limit as bytes? */
  #look(): void {
    if (!this.#findHead()) {
      this.#state = 'inline';
      return;
    }
    const fresh = this.#raw.slice(Math.max(this.#looked, this.#head.length), this.#raw.size);
    this.#looked = this.#raw.size;
    if (!this.#tryDecode(this.#probe, [fresh])) this.#state = 'inline';
    else if (this.#probe.bytes > this.#options.inlineLimit) this.#store(this.#body());
    else {
      // escapes, line breaks and a URI's head make it look longer than it is
      const missing = lengthPast(this.#options.inlineLimit - this.#probe.bytes);
      this.#nextLook = this.#raw.size + Math.max(missing, Math.min(this.#raw.size, LOOK_STEP));
    }
  }

  /** False where a data URI is due and there is none. */
  #findHead(): boolean {
    if (this.#options.encoding !== 'dataUri' || this.dataUri) return true;
    const start = this.#raw.slice(0, Math.min(MAX_HEAD, this.#raw.size));
    const head = parseDataUriHead(start);
    if (typeof head === 'string' || !head.base64) return false;
    this.dataUri = { mimeType: head.mimeType, ...(head.name === undefined ? {} : { name: head.name }) };
    this.#head = Buffer.from(start.subarray(0, head.dataStart));
    return true;
  }

  /** The base64 of what is in memory. */
  #body(): Buffer[] {
    let skip = this.#head.length;
    const body: Buffer[] = [];
    for (const piece of this.#raw.pieces()) {
      if (skip < piece.length) body.push(piece.subarray(skip));
      skip = Math.max(0, skip - piece.length);
    }
    return body;
  }

  /** Decodes without keeping. False, and a `fault`, where it is not base64. */
  #tryDecode(decoder: Base64Decoder, body: readonly Buffer[], sink?: (bytes: Buffer) => void): boolean {
    const out = Buffer.allocUnsafe(MAX_PIECE + 8);
    try {
      for (const piece of pieces(body)) {
        const written = decoder.push(piece, 0, piece.length, out, 0);
        sink?.(out.subarray(0, written));
      }
      return true;
    } catch (error) {
      this.#fault = wireErrorOrThrow(error);
      return false;
    }
  }

  #store(body: Buffer[]): void {
    let wait: Promise<void> | undefined;
    try {
      this.#ingest = this.#options.openFile();
      wait = this.#ingest.begin();
    } catch (error) {
      this.#options.fail(error);
      return;
    }
    this.#state = 'storing';
    this.#backlog = body;
    this.#release();
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
        if (this.#state === 'broken') this.#spell(piece);
        else if (this.#state === 'storing') this.#decodePiece(piece);
        await this.#ingest?.pressure;
      }
    }
    if (this.#ended) await this.#finish();
  }

  #decode(chunk: Buffer, start: number, end: number): void {
    try {
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
    const decoder = new Base64Decoder();
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
      await ingest.abort();
    }
  }

  #hold(chunk: Buffer, start: number, end: number): void {
    this.#raw.append(chunk, start, end);
    this.#options.account(end - start);
  }

  #release(): void {
    const { size } = this.#raw;
    this.#raw.clear();
    if (size > 0) this.#options.account(-size);
  }
}

function wireErrorOrThrow(error: unknown): WireError {
  if (error instanceof WireError) return error;
  throw error;
}

/** Characters that base64 of more than `bytes` bytes has, less one. */
function lengthPast(bytes: number): number {
  return Math.ceil(bytes / 3) * 4 + 3;
}

function* pieces(buffers: readonly Buffer[]): Generator<Buffer> {
  for (const buffer of buffers) {
    for (let at = 0; at < buffer.length; at += RAW_PIECE) yield buffer.subarray(at, at + RAW_PIECE);
  }
}
