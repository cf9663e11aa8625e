import { encodedLength } from '../../wire/base64/encode.js';
import { MAX_NAME_BYTES } from '../names/file-name.js';
import { base64Of } from './base64.js';
import type { EncodedValue, Encoder, FileSource } from './encoder.js';
import { MAX_MEDIA_TYPE, mediaTypeOfSource, nameOfSource } from './file-facts.js';
import { QUOTE } from './json-text.js';

/** `"data:application/octet-stream;base64,AAEC/f7/"` */
export const dataUri: Encoder = {
  room: (size) => frame('', '').length + MAX_MEDIA_TYPE + encodedLength(size),
  encode: (file) => encode(file, ''),
};

/** `"data:application/octet-stream;name=x.bin;base64,AAEC/f7/"` */
export const dataUriNamed: Encoder = {
  // a byte of a name becomes at most three characters
  room: (size) => frame('', `;${nameParameter('')}`).length + MAX_MEDIA_TYPE + 3 * MAX_NAME_BYTES + encodedLength(size),
  encode(file) {
    const name = file.hasName === false ? '' : nameOfSource(file);
    return encode(file, name === '' ? '' : `;${nameParameter(name)}`);
  },
};

function encode(file: FileSource, parameters: string): EncodedValue {
  const text = frame(typeOf(file), parameters);
  return {
    length: text.length + encodedLength(file.size),
    pieces: [Buffer.from(text.slice(0, -1)), () => base64Of(file, 'base64'), QUOTE],
  };
}

/**
 * A text without a charset would be US-ASCII to its reader (RFC 2397 §2). A type that leaves no room for it in what is
 * counted for a type goes alone.
 */
function typeOf(file: FileSource): string {
  const type = mediaTypeOfSource(file);
  const whole = file.charset === undefined ? type : `${type};charset=${file.charset}`;
  return whole.length <= MAX_MEDIA_TYPE ? whole : type;
}

/** The text around the data. Every character is printable ASCII that JSON does not escape. */
function frame(mimeType: string, parameters: string): string {
  return `"data:${mimeType}${parameters};base64,"`;
}

/** `encodeURIComponent` does not escape `!'()*`, which RFC 3986 reserves: a parser may end the name there. */
export function nameParameter(name: string): string {
  const encoded = encodeURIComponent(name).replaceAll(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `name=${encoded}`;
}
