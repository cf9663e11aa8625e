import { createHash } from 'node:crypto';
import { MAX_PIECE } from '../../files/ingest/ingest.js';
import { Base64Decoder } from '../../wire/base64/decode.js';
import { MAX_DATA_URI_HEAD, parseDataUriHead, SCHEME } from '../../wire/data-uri.js';
import { WireError } from '../../wire/errors.js';
import { ByteStore } from '../../wire/json/byte-store.js';

/** Raw bytes decoded in one step: a piece never exceeds the slack of a part buffer. */
export const RAW_PIECE = Math.floor(MAX_PIECE / 3) * 4;

/** Raw bytes between two checks of an unusual spelling. */
const LOOK_STEP = 64 * 1024;

/** The encoding of a string that may be a file. */
export interface SpelledIn {
  encoding: 'base64' | 'dataUri';
  /** The string is part of JSON that is itself a JSON string. Default false. */
  nested?: boolean;
  /** As of `Base64DecoderOptions`, where only a file may be. Default false. */
  anyBlanks?: boolean;
}

/** What reads a string in this encoding. */
export function decoderOf({ nested = false, anyBlanks = false }: SpelledIn): Base64Decoder {
  return new Base64Decoder({ nested, anyBlanks });
}

/**
 * A string kept in memory unchanged while it may be too short to be cut. It is checked at intervals: it is not a file,
 * it has passed its limit, or it may continue.
 */
export class GatheredString {
  /** Media type and name in a `data:` URI's head. */
  dataUri: { mimeType: string; name?: string } | undefined;
  /** Why the string is not base64, once that is known. */
  fault: WireError | undefined;
  /** A `data:` URI's head as it came. */
  head: Buffer = Buffer.alloc(0);

  readonly #spelled: SpelledIn;
  readonly #limit: number;
  readonly #account: (delta: number) => void;
  readonly #raw = new ByteStore();
  /** Decodes the string in memory, each byte once, to know its length. */
  readonly #probe: Base64Decoder;
  /** Raw bytes checked so far, and of how long a head their check knew. */
  #looked = 0;
  #lookedBehind: number | undefined;
  #nextLook: number;
  /** What `inspect` has found, of so many raw bytes. */
  #inspected: { raw: number; found: { size: number; digest: string } | undefined } | undefined;
  /** What `measure` has found, of so many raw bytes. */
  #measured: { raw: number; size: number | undefined } | undefined;

  /**
   * @param limit decoded bytes up to which it stays in memory
   * @param firstLook raw bytes
   * @param account called with raw bytes taken into memory (+) or released (-)
   */
  constructor(spelled: SpelledIn, limit: number, firstLook: number, account: (delta: number) => void) {
    this.#spelled = spelled;
    this.#probe = this.#newDecoder();
    this.#limit = limit;
    this.#nextLook = Math.min(lengthPast(limit), firstLook);
    this.#account = account;
  }

  /** Raw bytes that fit before the next check. */
  get room(): number {
    return this.#nextLook + 1 - this.#raw.size;
  }

  pieces(): readonly Buffer[] {
    return this.#raw.pieces();
  }

  hold(chunk: Buffer, start: number, end: number): void {
    this.#raw.append(chunk, start, end);
    this.#account(end - start);
  }

  release(): void {
    const { size } = this.#raw;
    this.#raw.clear();
    if (size > 0) this.#account(-size);
  }

  /** Whether it may be a file, and whether its bytes pass the limit. */
  look(): 'text' | 'short' | 'long' {
    if (!this.findHead()) return 'text';
    this.#lookedBehind ??= this.head.length;
    const fresh = this.#raw.slice(Math.max(this.#looked, this.head.length), this.#raw.size);
    this.#looked = this.#raw.size;
    if (!this.#tryDecode(this.#probe, [fresh])) return 'text';
    if (this.#probe.bytes > this.#limit) return 'long';
    const missing = lengthPast(this.#limit - this.#probe.bytes);
    const isPlain = this.#raw.size - this.head.length <= lengthPast(this.#probe.bytes);
    // escapes and line breaks make it look longer than it is, and then a look at each few bytes would cost too much
    this.#nextLook = this.#raw.size + Math.max(missing, isPlain ? 0 : Math.min(this.#raw.size, LOOK_STEP));
    return 'short';
  }

  /**
   * Bytes of a string that has come to its end; undefined as of `inspect`, which decodes all of it again: 15 MB of escapes
   * took 0.3 s. Here only what no check has seen is decoded.
   */
  measure(): number | undefined {
    if (this.#measured?.raw !== this.#raw.size) this.#measured = { raw: this.#raw.size, size: this.#measure() };
    return this.#measured.size;
  }

  #measure(): number | undefined {
    if (!this.findHead()) return undefined;
    // a check that came before the end of a long head has taken the head for base64
    if (this.#lookedBehind !== undefined && this.#lookedBehind !== this.head.length) return this.inspect()?.size;
    if (this.fault || this.look() === 'text' || !this.#tryFinish(this.#probe)) return undefined;
    return this.#probe.bytes;
  }

  /**
   * Size and digest of an inline string's bytes; undefined when it is not base64, or not the data URI that is required.
   */
  inspect(): { size: number; digest: string } | undefined {
    if (this.#inspected?.raw !== this.#raw.size) this.#inspected = { raw: this.#raw.size, found: this.#inspect() };
    return this.#inspected.found;
  }

  #inspect(): { size: number; digest: string } | undefined {
    if (!this.findHead()) return undefined;
    const hash = createHash('sha256');
    const decoder = this.#newDecoder();
    if (!this.#tryDecode(decoder, this.body(), (bytes) => hash.update(bytes))) return undefined;
    if (!this.#tryFinish(decoder, (bytes) => hash.update(bytes))) return undefined;
    return { size: decoder.bytes, digest: hash.digest('base64url') };
  }

  /** False when a data URI is required and this is not one. Some servers write one where MCP has bare base64. */
  findHead(): boolean {
    if (this.dataUri) return true;
    const isBare = this.#spelled.encoding === 'base64';
    if (isBare && this.#raw.slice(0, SCHEME.length).toString('latin1').toLowerCase() !== SCHEME) return true;
    const start = this.#raw.slice(0, Math.min(MAX_DATA_URI_HEAD, this.#raw.size));
    const head = parseDataUriHead(start, this.#spelled.nested);
    if (typeof head === 'string' || !head.base64) return isBare;
    this.dataUri = { mimeType: head.mimeType, ...(head.name === undefined ? {} : { name: head.name }) };
    this.head = Buffer.from(start.subarray(0, head.dataStart));
    return true;
  }

  /** The base64 of the string in memory. */
  body(): Buffer[] {
    let skip = this.head.length;
    const body: Buffer[] = [];
    for (const piece of this.#raw.pieces()) {
      if (skip < piece.length) body.push(piece.subarray(skip));
      skip = Math.max(0, skip - piece.length);
    }
    return body;
  }

  /** The bytes, piece by piece, of a string that `inspect` has found to be base64. */
  *decoded(): Generator<Buffer> {
    const decoder = this.#newDecoder();
    for (const piece of pieces(this.body())) {
      const out = Buffer.allocUnsafe(piece.length + 8);
      yield out.subarray(0, decoder.push(piece, 0, piece.length, out, 0));
    }
    const rest = Buffer.allocUnsafe(3);
    yield rest.subarray(0, decoder.finish(rest, 0));
  }

  #newDecoder(): Base64Decoder {
    return decoderOf(this.#spelled);
  }

  /** Decodes without keeping the bytes. Returns false and sets `fault` when it is not base64. */
  #tryDecode(decoder: Base64Decoder, body: readonly Buffer[], sink?: (bytes: Buffer) => void): boolean {
    const out = Buffer.allocUnsafe(Math.min(MAX_PIECE, this.#raw.size) + 8);
    try {
      for (const piece of pieces(body)) {
        const written = decoder.push(piece, 0, piece.length, out, 0);
        sink?.(out.subarray(0, written));
      }
      return true;
    } catch (error) {
      this.fault = wireErrorOrThrow(error);
      return false;
    }
  }

  /** Decodes what a string ends with. Returns false and sets `fault` when it may not end there. */
  #tryFinish(decoder: Base64Decoder, sink?: (bytes: Buffer) => void): boolean {
    const rest = Buffer.allocUnsafe(3);
    try {
      const written = decoder.finish(rest, 0);
      sink?.(rest.subarray(0, written));
      return true;
    } catch (error) {
      this.fault = wireErrorOrThrow(error);
      return false;
    }
  }
}

/** @throws whatever is not a fault of the string */
export function wireErrorOrThrow(error: unknown): WireError {
  if (error instanceof WireError) return error;
  throw error;
}

/** Length of base64 for more than `bytes` bytes, less one. */
function lengthPast(bytes: number): number {
  return Math.ceil(bytes / 3) * 4 + 3;
}

/** Splits buffers into pieces of at most `RAW_PIECE`. */
export function* pieces(buffers: readonly Buffer[]): Generator<Buffer> {
  for (const buffer of buffers) {
    for (let at = 0; at < buffer.length; at += RAW_PIECE) yield buffer.subarray(at, at + RAW_PIECE);
  }
}
