import type { Encoding } from '../../encodings.js';
import { base64, base64url } from './base64.js';
import { bytes } from './bytes.js';
import { dataUri, dataUriNamed } from './data-uri.js';
import type { EncodedValue, EncodeOptions, Encoder, EncodingParts, FileSource } from './encoder.js';
import { hex } from './hex.js';
import { object } from './object.js';
import { ready } from './ready.js';
import { text } from './text.js';

export type { EncodedValue, EncodeOptions, EncodingParts, FileSource } from './encoder.js';

const ENCODERS: Readonly<Record<Encoding, Encoder>> = {
  base64,
  base64url,
  hex,
  dataUri,
  dataUriNamed,
  text,
  object,
  bytes,
  httpsUrl: ready,
  localPath: ready,
  fileUri: ready,
};

/**
 * Encodes a file as the JSON of an argument. Reading the pieces reads the file. `text` and `bytes` read it once before,
 * for the length, and so does `$sha256` if the digest is unknown.
 * @throws GatewayError `file_not_text`, `file_gone`, or the error of reading it. Reading the pieces throws the latter
 * two.
 */
export function encodeFile(
  encoding: Encoding,
  file: FileSource,
  options: EncodeOptions,
): EncodedValue | Promise<EncodedValue> {
  return ENCODERS[encoding].encode(file, options);
}

/** Bytes of JSON to expect for a file of `size` bytes, whatever its content, name and type: see `Encoder.room`. */
export function roomFor(encoding: Encoding, size: number, parts: EncodingParts = {}): number {
  return ENCODERS[encoding].room(size, parts);
}

/**
 * The largest file that fits into `room` bytes of JSON, in bytes; `Number.MAX_SAFE_INTEGER` if its size does not
 * matter. Text may still be refused because of its escapes; every other encoding fits.
 * @returns undefined when not even an empty file fits
 */
export function largestFile(encoding: Encoding, room: number, parts: EncodingParts = {}): number | undefined {
  const fits = (size: number) => roomFor(encoding, size, parts) <= room;
  if (!fits(0)) return undefined;
  if (fits(Number.MAX_SAFE_INTEGER)) return Number.MAX_SAFE_INTEGER;
  // Each byte takes at least one byte of JSON, unless the size does not matter at all.
  let least = 0;
  let most = room;
  while (least < most) {
    const middle = Math.ceil((least + most) / 2);
    if (fits(middle)) least = middle;
    else most = middle - 1;
  }
  return least;
}
