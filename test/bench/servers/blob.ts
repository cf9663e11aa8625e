import { createHash } from 'node:crypto';

/** Base64 text of any length that costs the sender next to nothing: one rendered pattern, written again and again. */

/** Base64 characters per write. Whole quads, so that the pattern repeats without a seam. */
const PIECE_CHARS = 256 * 1024;
const PNG_HEAD = Buffer.from('89504e470d0a1a0a0000000d4948445200000400000004000802000000', 'hex');

/** xorshift32: the same incompressible bytes on every run. */
function noise(bytes: number): Buffer {
  const out = Buffer.allocUnsafe(bytes);
  let state = 0x9e3779b9;
  for (let index = 0; index < bytes; index += 1) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    out[index] = state & 0xff;
  }
  return out;
}

const DECODED_PIECE = (PIECE_CHARS / 4) * 3;
const BYTES = noise(DECODED_PIECE);
/** The first piece begins like a PNG, as a blob that is declared `image/png` should. */
const FIRST_BYTES = Buffer.concat([PNG_HEAD, BYTES.subarray(PNG_HEAD.length)]);
const PIECE = Buffer.from(BYTES.toString('base64'), 'latin1');
const FIRST_PIECE = Buffer.from(FIRST_BYTES.toString('base64'), 'latin1');

/** Characters of base64 text for a size in MB (10⁶), rounded to whole quads. */
export function blobChars(mb: number): number {
  return Math.max(4, Math.round((mb * 1e6) / 4) * 4);
}

/** Where a blob with a number has it: whole quads, behind the PNG's head. */
const NUMBER_AT = 64;
const NUMBER_BYTES = 6;

/** The first piece with a number in it, so that a store which knows equal bytes again knows these as others. */
function numbered(number: number): Buffer {
  const piece = Buffer.from(FIRST_PIECE);
  const digits = Buffer.alloc(NUMBER_BYTES);
  digits.writeUIntBE(number, 0, NUMBER_BYTES);
  piece.write(digits.toString('base64'), NUMBER_AT, 'latin1');
  return piece;
}

/**
 * The pieces of a base64 text of `chars` characters (a multiple of 4).
 * @param number makes its bytes differ from those of every other number
 */
export function* blobPieces(chars: number, number?: number): Generator<Buffer> {
  const first = number === undefined ? FIRST_PIECE : numbered(number);
  for (let done = 0; done < chars; done += PIECE_CHARS) {
    const piece = done === 0 ? first : PIECE;
    yield chars - done >= PIECE_CHARS ? piece : piece.subarray(0, chars - done);
  }
}

/** The bytes that a base64 text of `blobPieces` stands for, to any length. */
export function* filePieces(bytes: number): Generator<Buffer> {
  for (let done = 0; done < bytes; done += DECODED_PIECE) {
    const piece = done === 0 ? FIRST_BYTES : BYTES;
    yield bytes - done >= DECODED_PIECE ? piece : piece.subarray(0, bytes - done);
  }
}

/** Lower-case hex sha-256 of `filePieces`; half a second per GiB. */
export function fileDigest(bytes: number): string {
  const hash = createHash('sha256');
  for (const piece of filePieces(bytes)) hash.update(piece);
  return hash.digest('hex');
}

const ITEM = (id: number) =>
  `{"id":${100000 + id},"name":"item ${id % 10}","ok":true,"tags":["red","blue"],"price":12.5,"note":null},`;
const ITEMS = Buffer.from(Array.from({ length: 2500 }, (_, id) => ITEM(id)).join(''), 'latin1');

/** Small JSON items, each with a comma behind it, about `mb` MB of them in whole patterns of some 200 kB. */
export function* itemPieces(mb: number): Generator<Buffer> {
  const patterns = Math.max(1, Math.round((mb * 1e6) / ITEMS.length));
  for (let index = 0; index < patterns; index += 1) yield ITEMS;
}

/** Bytes that `itemPieces` yields. */
export function itemBytes(mb: number): number {
  return Math.max(1, Math.round((mb * 1e6) / ITEMS.length)) * ITEMS.length;
}
