import type { FileClaims } from '../../ports/file.js';
import { parseDataUriHead, SCHEME } from '../../wire/data-uri.js';
import type { ByteStore } from '../../wire/json/byte-store.js';

const COMMA = 0x2c;

/** The head of a `data:` URI in a text has a type and few parameters: raw bytes that are searched for it. */
const MOST_HEAD = 512;
/** What such a head ends with, before the base64. */
export const HEAD_END = 'base64,';

/** Behind a link these would belong to it: `%3D` is the padding of base64 that stands in an address. */
export const IN_ADDRESS: ReadonlySet<number> = new Set(Buffer.from('%-_~'));

/** The head of a `data:` URI in front of base64 among words. */
export interface UriHead {
  /** Its raw bytes; 0 for none. */
  head: number;
  /** What it says of the file. */
  said?: FileClaims;
}

/** The head of a `data:` URI with which a text ends. @param nested the text is JSON in a JSON string */
export function headIn(text: ByteStore, nested = false): UriHead {
  // most words are behind another byte, and with a limit of a few bytes every word is asked for
  if (text.last !== COMMA) return { head: 0 };
  const tail = text.slice(Math.max(0, text.size - MOST_HEAD), text.size);
  const written = tail.toString('latin1').toLowerCase();
  const begin = written.endsWith(HEAD_END) ? written.lastIndexOf(SCHEME) : -1;
  if (begin < 0) return { head: 0 };
  const found = parseDataUriHead(tail.subarray(begin), nested);
  if (typeof found === 'string' || !found.base64 || begin + found.dataStart !== tail.length) return { head: 0 };
  const { mimeType, name } = found;
  return { head: found.dataStart, said: { mimeType, ...(name !== undefined && { name }) } };
}
