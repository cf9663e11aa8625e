/** The longest head of a `data:` URI that is looked for, in raw bytes. */
export const MAX_DATA_URI_HEAD = 4096;

export interface DataUriHead {
  /** Type and subtype, lower case; `text/plain` where none is given, as RFC 2397 says. */
  mimeType: string;
  /** The `name` parameter, percent-decoded: not in the RFC, but what file inputs write. */
  name?: string;
  base64: boolean;
  /** Raw offset of the first byte of the data. */
  dataStart: number;
}

const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const SCHEME = 'data:';
const SIMPLE_ESCAPES: Readonly<Record<string, number>> = { '"': 0x22, '\\': 0x5c, '/': 0x2f };

/**
 * Reads the head of a string that may be a `data:` URI, from its raw JSON bytes. Call it again with more of them while
 * it says `incomplete`.
 */
export function parseDataUriHead(bytes: Buffer): DataUriHead | 'incomplete' | 'not-a-data-uri' {
  const plain: number[] = [];
  let at = 0;
  while (at < bytes.length && at < MAX_DATA_URI_HEAD) {
    const char = charAt(bytes, at);
    if (char === 'incomplete') return char;
    if (char === 'none' || !mayBegin(plain.length, char.byte)) return 'not-a-data-uri';
    at += char.length;
    if (char.byte === COMMA) return { ...parseHead(Buffer.from(plain).toString('utf8')), dataStart: at };
    plain.push(char.byte);
  }
  return at < MAX_DATA_URI_HEAD ? 'incomplete' : 'not-a-data-uri';
}

/** One character of the JSON string: a byte or an escape for an ASCII character that a head can have. */
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

function parseHead(head: string): Omit<DataUriHead, 'dataStart'> {
  const [type = '', ...parameters] = head
    .slice(SCHEME.length)
    .split(';')
    .map((part) => part.trim());
  const base64 = parameters.some((parameter) => parameter.toLowerCase() === 'base64');
  const named = parameters.find((parameter) => /^name=/i.test(parameter));
  const name = named === undefined ? '' : percentDecoded(named.slice('name='.length).replace(/^"(.*)"$/, '$1'));
  return { mimeType: type.toLowerCase() || 'text/plain', ...(name ? { name } : {}), base64 };
}

/** The text as it is where it is not well-formed percent-encoding. */
function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
