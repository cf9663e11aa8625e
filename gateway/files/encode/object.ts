import type { Placeholder } from '../../encodings.js';
import type { JsonValue } from '../../ports/json.js';
import { MAX_NAME_BYTES } from '../names/file-name.js';
import { base64, base64url } from './base64.js';
import { bytes } from './bytes.js';
import { dataUri } from './data-uri.js';
import type { EncodedValue, EncodeOptions, Encoder, EncodingParts, FileSource } from './encoder.js';
import { MAX_MEDIA_TYPE, mediaTypeOfSource, nameOfSource, SHA256_HEX, sha256Of } from './file-facts.js';
import { hex } from './hex.js';
import { jsonBytes, QUOTES } from './json-text.js';
import { ready } from './ready.js';
import { text } from './text.js';

/** Digits of `$size` for the largest possible file. */
const MAX_SIZE_DIGITS = String(Number.MAX_SAFE_INTEGER).length;

/** The encoder of each placeholder. */
const PLACEHOLDERS: Readonly<Record<`$${Placeholder}`, Encoder>> = {
  $base64: base64,
  $base64url: base64url,
  $hex: hex,
  $dataUri: dataUri,
  $text: text,
  $bytes: bytes,
  $mime: fact(mediaTypeOfSource, MAX_MEDIA_TYPE + QUOTES),
  $name: fact(nameOfSource, MAX_NAME_BYTES + QUOTES),
  $size: fact((file) => file.size, MAX_SIZE_DIGITS),
  $sha256: fact(sha256Of, SHA256_HEX + QUOTES),
  $url: linked('url'),
  $handle: linked('handle'),
};

/**
 * The template's JSON. A string that is exactly a placeholder is replaced; `$size` becomes a number. A string that
 * begins with `$$` loses one `$`. Every other string, and every key, stays.
 */
export const object: Encoder = {
  room: (size, parts) => encodersOf(templateOf(parts)).reduce((sum, part) => sum + part.room(size, parts), 0),
  async encode(file, options) {
    const values: EncodedValue[] = [];
    for (const part of encodersOf(templateOf(options))) values.push(await part.encode(file, options));
    return {
      length: values.reduce((sum, value) => sum + value.length, 0),
      pieces: values.flatMap((value) => value.pieces),
    };
  },
};

function templateOf({ template }: EncodingParts): JsonValue {
  if (template === undefined) throw new Error('The encoding "object" has no template.');
  return template;
}

/** The template in document order: constant text and placeholders. */
function encodersOf(template: JsonValue): Encoder[] {
  if (typeof template === 'string') {
    if (Object.hasOwn(PLACEHOLDERS, template)) return [PLACEHOLDERS[template as `$${Placeholder}`]];
    return [literal(JSON.stringify(template.startsWith('$$') ? template.slice(1) : template))];
  }
  if (Array.isArray(template)) {
    const items = template.flatMap((item, index) => [...comma(index), ...encodersOf(item)]);
    return [literal('['), ...items, literal(']')];
  }
  if (typeof template === 'object' && template !== null) {
    const members = Object.entries(template).flatMap(([key, value], index) => [
      ...comma(index),
      literal(`${JSON.stringify(key)}:`),
      ...encodersOf(value),
    ]);
    return [literal('{'), ...members, literal('}')];
  }
  return [literal(JSON.stringify(template))];
}

function comma(index: number): Encoder[] {
  return index === 0 ? [] : [literal(',')];
}

function literal(json: string): Encoder {
  const piece = Buffer.from(json);
  return { room: () => piece.length, encode: () => ({ length: piece.length, pieces: [piece] }) };
}

/** A fact about the file. @param most largest length of its JSON, in bytes */
function fact(get: (file: FileSource) => string | number | Promise<string>, most: number): Encoder {
  return {
    room: () => most,
    async encode(file) {
      const piece = jsonBytes(await get(file));
      return { length: piece.length, pieces: [piece] };
    },
  };
}

function linked(part: 'url' | 'handle'): Encoder {
  return {
    room: (size, parts) => ready.room(size, { value: parts[part] }),
    encode: (file, options: EncodeOptions) => ready.encode(file, { path: options.path, value: options[part] }),
  };
}
