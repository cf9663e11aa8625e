import { Base64Encoder, encodedLength, encodedUrlLength } from '../../wire/base64/encode.js';
import type { Encoder, FileSource, PieceBytes } from './encoder.js';
import { QUOTE, QUOTES } from './json-text.js';
import { recycled } from './recycled.js';
import { wholeFile } from './whole-file.js';

/** `"AAEC/f7/"` */
export const base64: Encoder = {
  room: (size) => encodedLength(size) + QUOTES,
  encode: (file) => ({
    length: encodedLength(file.size) + QUOTES,
    pieces: [QUOTE, () => base64Of(file, 'base64'), QUOTE],
  }),
};

/** `"AAEC_f7_"`, without padding. */
export const base64url: Encoder = {
  room: (size) => encodedUrlLength(size) + QUOTES,
  encode: (file) => ({
    length: encodedUrlLength(file.size) + QUOTES,
    pieces: [QUOTE, () => base64Of(file, 'base64url'), QUOTE],
  }),
};

/** The text between the quotes. */
export function base64Of(file: FileSource, alphabet: 'base64' | 'base64url'): PieceBytes {
  const bytes = file.inMemory?.();
  return bytes?.length === file.size ? [Buffer.from(bytes.toString(alphabet), 'latin1')] : inPieces(file, alphabet);
}

async function* inPieces(file: FileSource, alphabet: 'base64' | 'base64url'): AsyncGenerator<Buffer> {
  const encoder = new Base64Encoder(alphabet, (length) => recycled.take(length));
  for await (const chunk of wholeFile(file)) {
    const encoded = encoder.push(chunk);
    file.release?.(chunk);
    if (encoded.length > 0) yield encoded;
  }
  const rest = encoder.finish();
  if (rest.length > 0) yield rest;
}
