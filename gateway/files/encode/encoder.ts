import type { JsonValue } from '../../ports/json.js';

/** A stored file to be written into a message. */
export interface FileSource {
  name: string;
  /** False when the name was made up because none was known. */
  hasName?: boolean;
  mimeType: string;
  /** The encoding of a text's characters, where a client has said it. */
  charset?: string;
  /** Bytes. */
  size: number;
  /** SHA-256, base64url without padding. If it is unknown, the file is read for it. */
  digest?: string;
  /** All bytes, or those of a range with both ends inclusive. Can be called repeatedly. */
  read(range?: { start: number; end: number }): AsyncIterable<Buffer>;
  /** All bytes of a short file that is in memory, so that reading it takes no stream. They must not be changed. */
  inMemory?(): Buffer | undefined;
  /** Takes a chunk back that is needed no more, whole: its memory is used again. Chunks that are kept are not given. */
  release?(chunk: Buffer): void;
}

/** The bytes of a piece: a list where all of them are in memory, so that a short message need not wait for them. */
export type PieceBytes = readonly Buffer[] | AsyncIterable<Buffer>;

/** The JSON text of the value, in pieces, and its exact length in bytes, which Content-Length needs first. */
export interface EncodedValue {
  length: number;
  /** Each call of a function reads its bytes from the file. */
  pieces: readonly (Buffer | (() => PieceBytes))[];
}

/** What an encoding needs besides the file. */
export interface EncodingParts {
  /** For `object`: the JSON value with placeholders. */
  template?: JsonValue | undefined;
  /** For `httpsUrl`, `localPath` and `fileUri`: the string itself. */
  value?: string | undefined;
  /** The value of `$url` in a template. */
  url?: string | undefined;
  /** The value of `$handle` in a template. */
  handle?: string | undefined;
}

export interface EncodeOptions extends EncodingParts {
  /** The argument, for errors: `pages[2].data`. */
  path: string;
}

export interface Encoder {
  /**
   * Bytes of JSON to expect for a file of `size` bytes before reading it: the most that it can take; for text, which
   * rarely grows much, an estimate. Never less for a larger file.
   */
  room(size: number, parts: EncodingParts): number;
  encode(file: FileSource, options: EncodeOptions): EncodedValue | Promise<EncodedValue>;
}
