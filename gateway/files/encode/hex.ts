import type { Encoder, FileSource } from './encoder.js';
import { QUOTE, QUOTES } from './json-text.js';
import { wholeFile } from './whole-file.js';

/** Bytes encoded in one go: a string of 128 KiB or more goes to V8's large-object space and is slower. */
const SLICE = 48 * 1024;

const lengthOf = (size: number) => 2 * size + QUOTES;

/** `"000102fdfeff"` */
export const hex: Encoder = {
  room: lengthOf,
  encode: (file) => ({ length: lengthOf(file.size), pieces: [QUOTE, () => hexOf(file), QUOTE] }),
};

async function* hexOf(file: FileSource): AsyncGenerator<Buffer> {
  for await (const chunk of wholeFile(file)) {
    const out = Buffer.allocUnsafe(2 * chunk.length);
    for (let from = 0; from < chunk.length; from += SLICE) {
      out.write(chunk.toString('hex', from, Math.min(chunk.length, from + SLICE)), 2 * from, 'latin1');
    }
    yield out;
  }
}
