import type { JsonValue } from '../../ports/json.js';

/** A stored file that is written into a message. */
export interface FileSource {
  name: string;
  /** False when the name was made up for want of one. */
  hasName?: boolean;
  mimeType: string;
  /** Bytes. */
  size: number;
  /** SHA-256, base64url without padding. Where it is not known the file is read for it. */
  digest?: string;
  /** All bytes, or those of a range with both ends inclusive; as often as asked. */
  read(range?: { start: number; end: number }): AsyncIterable<Buffer>;
}

/** The JSON text of the value, in pieces, with its exact length in bytes, so that Content-Length can be sent first. */
export interface EncodedValue {
  length: number;
  /** A function reads its bytes from the file, each time it is called. */
  pieces: readonly (Buffer | (() => AsyncIterable<Buffer>))[];
}

/** What an encoding needs besides the file. */
export interface EncodingParts {
  /** Of `object`: the JSON value with placeholders. */
  template?: JsonValue | undefined;
  /** Of `httpsUrl`, `localPath` and `fileUri`: the string itself. */
  value?: string | undefined;
  /** What `$url` in a template stands for. */
  url?: string | undefined;
  /** What `$handle` in a template stands for. */
  handle?: string | undefined;
}

export interface EncodeOptions extends EncodingParts {
  /** Where the value goes, for errors: `pages[2].data`. */
  path: string;
}

export interface Encoder {
  /**
   * Bytes of JSON to reckon with for a file of `size` bytes that has not been read: the most that it can take, but for
   * text, which hardly grows. Never less for a larger file.
   */
  room(size: number, parts: EncodingParts): number;
  encode(file: FileSource, options: EncodeOptions): EncodedValue | Promise<EncodedValue>;
}
