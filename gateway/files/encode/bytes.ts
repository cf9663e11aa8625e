import type { Encoder, FileSource } from './encoder.js';
import { wholeFile } from './whole-file.js';

const BRACKETS = 2;
/** `255,` */
const LONGEST = 4;

const COMMA = 0x2c;
const ZERO = 0x30;

/** Characters of `,255`. */
const LENGTHS = Uint8Array.from({ length: 256 }, (_, byte) => `,${byte}`.length);

/** `[0,1,2,253,254,255]`. Reads the file once beforehand, to measure it. */
export const bytes: Encoder = {
  room: (size) => BRACKETS + Math.max(0, LONGEST * size - 1),
  async encode(file) {
    let length = BRACKETS;
    for await (const chunk of wholeFile(file)) length += numbersLength(chunk);
    // the first number has no comma before it
    if (file.size > 0) length--;
    return { length, pieces: [Buffer.from('['), () => numbersOf(file), Buffer.from(']')] };
  },
};

async function* numbersOf(file: FileSource): AsyncGenerator<Buffer> {
  let isFirst = true;
  for await (const chunk of wholeFile(file)) {
    const numbers = write(chunk);
    yield isFirst ? numbers.subarray(1) : numbers;
    isFirst = false;
  }
}

function numbersLength(chunk: Buffer): number {
  let length = 0;
  for (let from = 0; from < chunk.length; from++) length += LENGTHS[chunk[from] as number] as number;
  return length;
}

/** Indexed loops and digits by division: an iterator and a table of texts take four times as long. */
function write(chunk: Buffer): Buffer {
  const out = Buffer.allocUnsafe(numbersLength(chunk));
  let at = 0;
  for (let from = 0; from < chunk.length; from++) {
    const byte = chunk[from] as number;
    out[at++] = COMMA;
    if (byte >= 100) out[at++] = ZERO + Math.trunc(byte / 100);
    if (byte >= 10) out[at++] = ZERO + (Math.trunc(byte / 10) % 10);
    out[at++] = ZERO + (byte % 10);
  }
  return out;
}
