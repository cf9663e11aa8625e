import type { Encoding } from '../../ports/file-slot.js';
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
 * A file as the JSON of an argument. Its bytes are read when the pieces are; `text` and `bytes` read them once before,
 * to know the length, and so does `$sha256` where the digest is not known.
 * @throws GatewayError `file_not_text`, `file_gone`, or what reading it throws. Reading the pieces throws the latter two.
 */
export async function encodeFile(encoding: Encoding, file: FileSource, options: EncodeOptions): Promise<EncodedValue> {
  return ENCODERS[encoding].encode(file, options);
}

/** Bytes of JSON to reckon with for a file of `size` bytes, whatever its bytes, name and type are: see `Encoder.room`. */
export function roomFor(encoding: Encoding, size: number, parts: EncodingParts = {}): number {
  return ENCODERS[encoding].room(size, parts);
}

/**
 * The largest file that fits into `room` bytes of JSON, in bytes; `Number.MAX_SAFE_INTEGER` where its size does not
 * matter. Text may be refused all the same, for what is escaped in it; all else surely fits.
 * @returns undefined when not even an empty one does
 */
export function largestFile(encoding: Encoding, room: number, parts: EncodingParts = {}): number | undefined {
  const fits = (size: number) => roomFor(encoding, size, parts) <= room;
  if (!fits(0)) return undefined;
  if (fits(Number.MAX_SAFE_INTEGER)) return Number.MAX_SAFE_INTEGER;
  // Each byte takes at least one byte of JSON, or the size does not matter at all.
  let least = 0;
  let most = room;
  while (least < most) {
    const middle = Math.ceil((least + most) / 2);
    if (fits(middle)) least = middle;
    else most = middle - 1;
  }
  return least;
}
