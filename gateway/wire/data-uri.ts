import { decodeStrictBase64 } from './base64/decode-text.js';
import { isHex } from './json/chars.js';

/** The longest `data:` URI head that is looked for, in raw bytes. */
export const MAX_DATA_URI_HEAD = 4096;

interface DataUriHead {
  /** Type and subtype, lower case; `text/plain` where none is given, as RFC 2397 says. */
  mimeType: string;
  /** The `name` parameter, percent-decoded. It is not in the RFC, but file inputs write it. */
  name?: string;
  base64: boolean;
  /** Raw offset of the first byte of the data. */
  dataStart: number;
}

/** A whole data URI, decoded. */
interface DataUri {
  /** Type and subtype, lower case; RFC 2397's `text/plain;charset=US-ASCII` where the URI names neither type nor charset. */
  mimeType: string;
  /** The `name` parameter before `;base64`, percent-decoded. It is an unchecked hint: it may be a path, for example. */
  name?: string;
  /** The `charset` parameter before `;base64`, lower case, if it is the name of one. */
  charset?: string;
  bytes: Buffer;
}

const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const PERCENT = 0x25;
/** How every data: URI begins; RFC 3986 §3.1 takes it in any case. */
export const SCHEME = 'data:';
const SIMPLE_ESCAPES: Readonly<Record<string, number>> = { '"': 0x22, '\\': 0x5c, '/': 0x2f };

/**
 * Reads the head of a string that may be a `data:` URI, from its raw JSON bytes. While the result is `incomplete`, call
 * again with more bytes.
 * @param nested the string is part of JSON that is itself a JSON string
 */
export function parseDataUriHead(bytes: Buffer, nested = false): DataUriHead | 'incomplete' | 'not-a-data-uri' {
  const plain: number[] = [];
  let at = 0;
  while (at < bytes.length && at < MAX_DATA_URI_HEAD) {
    const char = nested ? nestedCharAt(bytes, at) : charAt(bytes, at);
    if (char === 'incomplete') return char;
    if (char === 'none' || !mayBegin(plain.length, char.byte)) return 'not-a-data-uri';
    at += char.length;
    if (char.byte === COMMA) return dataUriHead(Buffer.from(plain).toString('utf8'), at);
    plain.push(char.byte);
  }
  return at < MAX_DATA_URI_HEAD ? 'incomplete' : 'not-a-data-uri';
}

function dataUriHead(head: string, dataStart: number): DataUriHead {
  const { type, name, base64 } = readHead(head.slice(SCHEME.length));
  return { mimeType: type || 'text/plain', ...(name ? { name } : {}), base64, dataStart };
}

const DATA_URI = /^data:/i;
/** RFC 2978 §2.3: 1 to 40 characters; of those it allows, the ones in registered names. None ends the parameter. */
const CHARSET = /^[a-z0-9][\w.:+-]{0,39}$/;
/** A media type without parameters, in lower case (RFC 6838 §4.2). */
export const MEDIA_TYPE = /^[a-z0-9][\w!#$&^.+-]{0,126}\/[a-z0-9][\w!#$&^.+-]{0,126}$/;
/**
 * Characters that are illegal in a URI and that two readers would read in two ways: blanks and controls (some drop
 * them), `#` (ends the data for some), halves of surrogate pairs. `<`, `"` and `ü` are literal for all of them.
 */
export const AMBIGUOUS = /[\p{Cc}\p{Cs} #]/u;

/**
 * Reads a whole `data:` URI (RFC 2397) from a parsed string: base64, padded or not, or percent-encoded. Linear in its
 * length.
 * @see https://www.rfc-editor.org/rfc/rfc2397
 */
export function readDataUri(text: string): DataUri | 'malformedUri' | 'not-a-data-uri' {
  if (!DATA_URI.test(text)) return 'not-a-data-uri';
  const comma = text.slice(0, MAX_DATA_URI_HEAD).indexOf(',');
  if (comma < 0) return 'malformedUri';
  const head = text.slice(SCHEME.length, comma);
  const { type, name, base64, charset } = readHead(head);
  // `data:base64,…` is a mistake, not text; a comma inside a quoted name does not begin the data
  if ((type !== '' && !MEDIA_TYPE.test(type)) || hasOpenQuote(head)) return 'malformedUri';
  const mimeType = type || (charset === undefined ? 'text/plain;charset=US-ASCII' : 'text/plain');
  const data = text.slice(comma + 1);
  const bytes = base64 ? base64Bytes(data) : percentBytes(data);
  if (bytes === undefined) return 'malformedUri';
  return { mimeType, ...(name && { name }), ...(charset && CHARSET.test(charset) && { charset }), bytes };
}

/** RFC 2397 allows percent-encoding here too, and clients often encode `+`, `/` and `=`. */
function base64Bytes(data: string): Buffer | undefined {
  if (!data.includes('%')) return decodeStrictBase64(data);
  const decoded = percentBytes(data);
  return decoded && decodeStrictBase64(decoded.toString('latin1'));
}

/** The bytes of a percent-encoded text; undefined when it is malformed, or could be read in two ways. */
export function percentBytes(data: string): Buffer | undefined {
  if (AMBIGUOUS.test(data)) return undefined;
  const bytes = Buffer.from(data, 'utf8');
  let length = bytes.indexOf(PERCENT);
  if (length < 0) return bytes;
  for (let from = length; from < bytes.length; from++) {
    let byte = bytes[from] as number;
    if (byte === PERCENT) {
      if (!isHex(bytes[from + 1] ?? 0) || !isHex(bytes[from + 2] ?? 0)) return undefined;
      byte = hexValue(bytes[from + 1] as number) * 16 + hexValue(bytes[from + 2] as number);
      from += 2;
    }
    bytes[length++] = byte;
  }
  return bytes.subarray(0, length);
}

function hexValue(digit: number): number {
  return digit <= 0x39 ? digit - 0x30 : (digit | 0x20) - 0x57;
}

/** Reads one character of a JSON string that is part of JSON which is itself a JSON string. */
function nestedCharAt(bytes: Buffer, at: number): ReturnType<typeof charAt> {
  const inner: number[] = [];
  let length = 0;
  for (;;) {
    const next = charAt(bytes, at + length);
    if (typeof next === 'string') return next;
    inner.push(next.byte);
    length += next.length;
    const char = charAt(Buffer.from(inner), 0);
    if (char !== 'incomplete') return char === 'none' ? char : { byte: char.byte, length };
    if (at + length >= bytes.length) return char;
  }
}

/** Reads one character of the JSON string: a byte, or an escape of an ASCII character that a head can contain. */
function charAt(bytes: Buffer, at: number): { byte: number; length: number } | 'incomplete' | 'none' {
  const byte = bytes[at] as number;
  if (byte !== BACKSLASH) return { byte, length: 1 };
  if (at + 1 >= bytes.length) return 'incomplete';
  const kind = String.fromCharCode(bytes[at + 1] as number);
  if (kind !== 'u') {
    const simple = SIMPLE_ESCAPES[kind];
    return simple === undefined ? 'none' : { byte: simple, length: 2 };
  }
  const digits = bytes.toString('latin1', at + 2, at + 6);
  if (!/^[0-9a-f]*$/i.test(digits)) return 'none';
  if (digits.length < 4) return 'incomplete';
  const code = Number.parseInt(digits, 16);
  return code >= 0x20 && code < 0x7f ? { byte: code, length: 6 } : 'none';
}

function mayBegin(index: number, byte: number): boolean {
  return index >= SCHEME.length || (byte | 0x20) === SCHEME.charCodeAt(index) || byte === SCHEME.charCodeAt(index);
}

/** @param head the text between the scheme and the comma */
export function readHead(head: string): {
  type: string;
  name: string;
  base64: boolean;
  charset: string | undefined;
} {
  const [type = '', ...parameters] = partsOf(head).map((part) => part.trim());
  const end = parameters.findIndex((parameter) => parameter.toLowerCase() === 'base64');
  const read = end < 0 ? parameters : parameters.slice(0, end);
  const name = read.find((parameter) => /^name=/i.test(parameter))?.slice('name='.length) ?? '';
  return {
    type: type.toLowerCase(),
    name: percentDecoded(name.replace(/^"(.*)"$/, '$1')),
    base64: end >= 0,
    charset: read
      .find((parameter) => /^charset=/i.test(parameter))
      ?.slice('charset='.length)
      .replace(/^"(.*)"$/, '$1')
      .toLowerCase(),
  };
}

/** The parts of a head between its semicolons. One within quotes belongs to a value (RFC 2045 §5.1), as browsers read it. */
function partsOf(head: string): string[] {
  const parts: string[] = [];
  let begin = 0;
  for (let at = 0; at < head.length; at++) {
    const char = head.charAt(at);
    if (char === '"') {
      const end = head.indexOf('"', at + 1);
      if (end > 0) at = end;
    } else if (char === ';') {
      parts.push(head.slice(begin, at));
      begin = at + 1;
    }
  }
  parts.push(head.slice(begin));
  return parts;
}

/** True when a text ends inside quotes. */
export function hasOpenQuote(head: string): boolean {
  return head.split('"').length % 2 === 0;
}

/** Percent-decodes the text; returns it unchanged when the encoding is malformed. */
export function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
