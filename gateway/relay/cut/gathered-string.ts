import { createHash } from 'node:crypto';
import { MAX_PIECE } from '../../files/ingest/ingest.js';
import { Base64Decoder } from '../../wire/base64/decode.js';
import { parseDataUriHead } from '../../wire/data-uri.js';
import { WireError } from '../../wire/errors.js';
import { ByteStore } from '../../wire/json/byte-store.js';

/** Raw bytes decoded in one step: a piece never outgrows the slack of a part buffer. */
export const RAW_PIECE = Math.floor(MAX_PIECE / 3) * 4;

/** Raw bytes from one look at an unusual spelling to the next. */
const LOOK_STEP = 64 * 1024;

/** A data URI's head is at most this long; what has none by then is ordinary text. */
const MAX_HEAD = 4096;

const SCHEME = 'data:';

/** In what a string that may be a file is written. */
export interface SpelledIn {
  encoding: 'base64' | 'dataUri';
  /** The string stands in JSON that is itself a string of JSON. Default false. */
  nested?: boolean;
}

/**
 * A string in memory as it came, as long as it may be too short to be cut. Every so many bytes it is looked at: it has
 * either turned out to be no file, or grown past its limit, or may go on.
 */
export class GatheredString {
  /** Media type and name in a `data:` URI's head. */
  dataUri: { mimeType: string; name?: string } | undefined;
  /** Why the string is not base64, once that is known. */
  fault: WireError | undefined;
  /** A `data:` URI's head as it came. */
  head: Buffer = Buffer.alloc(0);

  readonly #encoding: 'base64' | 'dataUri';
  readonly #nested: boolean;
  readonly #limit: number;
  readonly #account: (delta: number) => void;
  readonly #raw = new ByteStore();
  /** Decodes what is in memory, each byte once, to know how long it is. */
  readonly #probe: Base64Decoder;
  /** Raw bytes that have been looked at. */
  #looked = 0;
  #nextLook: number;

  /**
   * @param limit decoded bytes up to which it stays in memory
   * @param firstLook raw bytes
   * @param account told of raw bytes taken into memory, or given back
   */
  constructor(spelled: SpelledIn, limit: number, firstLook: number, account: (delta: number) => void) {
    this.#encoding = spelled.encoding;
    this.#nested = spelled.nested ?? false;
    this.#probe = this.#newDecoder();
    this.#limit = limit;
    this.#nextLook = Math.min(lengthPast(limit), firstLook);
    this.#account = account;
  }

  /** Raw bytes that may still be held before the next look is due. */
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

  /** Is it a file, and is it past the limit as bytes? */
  look(): 'text' | 'short' | 'long' {
    if (!this.findHead()) return 'text';
    const fresh = this.#raw.slice(Math.max(this.#looked, this.head.length), this.#raw.size);
    this.#looked = this.#raw.size;
    if (!this.#tryDecode(this.#probe, [fresh])) return 'text';
    if (this.#probe.bytes > this.#limit) return 'long';
    // escapes, line breaks and a URI's head make it look longer than it is
    const missing = lengthPast(this.#limit - this.#probe.bytes);
    this.#nextLook = this.#raw.size + Math.max(missing, Math.min(this.#raw.size, LOOK_STEP));
    return 'short';
  }

  /** Size and digest of an inline string's bytes; undefined when it is not base64, or no data URI where one is due. */
  inspect(): { size: number; digest: string } | undefined {
    if (!this.findHead()) return undefined;
    const hash = createHash('sha256');
    const decoder = this.#newDecoder();
    if (!this.#tryDecode(decoder, this.body(), (bytes) => hash.update(bytes))) return undefined;
    const rest = Buffer.allocUnsafe(3);
    try {
      hash.update(rest.subarray(0, decoder.finish(rest, 0)));
    } catch (error) {
      this.fault = wireErrorOrThrow(error);
      return undefined;
    }
    return { size: decoder.bytes, digest: hash.digest('base64url') };
  }

  /** False where a data URI is due and there is none. Some servers write one where MCP has bare base64. */
  findHead(): boolean {
    if (this.dataUri) return true;
    const isBare = this.#encoding === 'base64';
    if (isBare && this.#raw.slice(0, SCHEME.length).toString('latin1').toLowerCase() !== SCHEME) return true;
    const start = this.#raw.slice(0, Math.min(MAX_HEAD, this.#raw.size));
    const head = parseDataUriHead(start, this.#nested);
    if (typeof head === 'string' || !head.base64) return isBare;
    this.dataUri = { mimeType: head.mimeType, ...(head.name === undefined ? {} : { name: head.name }) };
    this.head = Buffer.from(start.subarray(0, head.dataStart));
    return true;
  }

  /** The base64 of what is in memory. */
  body(): Buffer[] {
    let skip = this.head.length;
    const body: Buffer[] = [];
    for (const piece of this.#raw.pieces()) {
      if (skip < piece.length) body.push(piece.subarray(skip));
      skip = Math.max(0, skip - piece.length);
    }
    return body;
  }

  #newDecoder(): Base64Decoder {
    return new Base64Decoder({ nested: this.#nested });
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
      this.fault = wireErrorOrThrow(error);
      return false;
    }
  }
}

export function wireErrorOrThrow(error: unknown): WireError {
  if (error instanceof WireError) return error;
  throw error;
}

/** Characters that base64 of more than `bytes` bytes has, less one. */
function lengthPast(bytes: number): number {
  return Math.ceil(bytes / 3) * 4 + 3;
}

/** The same bytes in pieces of at most `RAW_PIECE`. */
export function* pieces(buffers: readonly Buffer[]): Generator<Buffer> {
  for (const buffer of buffers) {
    for (let at = 0; at < buffer.length; at += RAW_PIECE) yield buffer.subarray(at, at + RAW_PIECE);
  }
}
