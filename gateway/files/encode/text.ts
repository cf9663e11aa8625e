import { isUtf8 } from 'node:buffer';
import { GatewayError } from '../../errors.js';
import type { Encoder, FileSource } from './encoder.js';
import { QUOTE, QUOTES } from './json-text.js';
import { wholeFile } from './whole-file.js';

const BACKSLASH = 0x5c;
const SHORT: Readonly<Record<string, string>> = {
  '\b': 'b',
  '\t': 't',
  '\n': 'n',
  '\f': 'f',
  '\r': 'r',
  '"': '"',
  '\\': '\\',
};

/** The characters after the backslash, for the bytes that JSON escapes. */
const ESCAPES: (Buffer | undefined)[] = Array.from({ length: 256 }, (_, byte) => {
  const short = SHORT[String.fromCharCode(byte)];
  if (short !== undefined) return Buffer.from(short);
  return byte < 0x20 ? Buffer.from(`u${byte.toString(16).padStart(4, '0')}`) : undefined;
});
const LENGTHS = Uint8Array.from(ESCAPES, (rest) => (rest === undefined ? 1 : 1 + rest.length));

/** The file as a JSON string, including a byte order mark. A first reading checks and measures it. */
export const text: Encoder = {
  // control characters may take six times as much; the exact length is known before the first byte is sent
  room: (size) => size + QUOTES,
  async encode(file, { path }) {
    const check = new Utf8Check();
    let length = QUOTES;
    for await (const chunk of wholeFile(file)) {
      if (!check.push(chunk)) throw notText(path);
      length += escapedLength(chunk);
    }
    if (!check.isComplete) throw notText(path);
    return { length, pieces: [QUOTE, () => escaped(file), QUOTE] };
  },
};

function notText(path: string): GatewayError {
  return new GatewayError('file_not_text', { path, reason: 'notText' });
}

async function* escaped(file: FileSource): AsyncGenerator<Buffer> {
  for await (const chunk of wholeFile(file)) yield escapeBytes(chunk);
}

function escapedLength(chunk: Buffer): number {
  let length = 0;
  for (let from = 0; from < chunk.length; from++) length += LENGTHS[chunk[from] as number] as number;
  return length;
}

/** Bytes above ASCII are literal, so a chunk may end inside a character. */
function escapeBytes(chunk: Buffer): Buffer {
  const length = escapedLength(chunk);
  if (length === chunk.length) return chunk;
  const out = Buffer.allocUnsafe(length);
  let at = 0;
  for (let from = 0; from < chunk.length; from++) {
    const byte = chunk[from] as number;
    if (LENGTHS[byte] === 1) {
      out[at++] = byte;
      continue;
    }
    out[at++] = BACKSLASH;
    at += (ESCAPES[byte] as Buffer).copy(out, at);
  }
  return out;
}

/** Checks UTF-8 in pieces of any size. */
class Utf8Check {
  /** The beginning of a character that the last piece cut in two. */
  #rest: Buffer = Buffer.alloc(0);

  get isComplete(): boolean {
    return this.#rest.length === 0;
  }

  /** False once the bytes are not UTF-8. */
  push(chunk: Buffer): boolean {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const end = bytes.length - unfinished(bytes);
    // a copy: the caller may reuse the chunk
    this.#rest = Buffer.from(bytes.subarray(end));
    return isUtf8(bytes.subarray(0, end));
  }
}

/** Length of the incomplete character at the end, in bytes: 0 to 3. */
function unfinished(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] as number;
    const isContinuation = (byte & 0xc0) === 0x80;
    if (isContinuation) continue;
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return needed > back ? back : 0;
  }
  return 0;
}
