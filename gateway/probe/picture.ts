import { crc32, deflateSync } from 'node:zlib';
import { spelled } from './codes.js';

/** Digits of three by five squares, a bit for each, row by row. */
const DIGITS = [31_599, 11_415, 29_671, 29_647, 23_497, 31_183, 31_215, 29_257, 31_727, 31_695];
const COLUMNS = 3;
const ROWS = 5;
/** Pixels of one square. */
const SQUARE = 12;

const BLACK = 0;
const WHITE = 255;

/** A PNG that shows digits. @param hidden a code that the file's base64 spells */
export function pictureOf(digits: string, hidden = ''): Buffer {
  const width = (digits.length * (COLUMNS + 1) + 1) * SQUARE;
  const height = (ROWS + 2) * SQUARE;
  const isInk = (x: number, y: number): boolean => {
    const [column, row] = [Math.floor(x / SQUARE) - 1, Math.floor(y / SQUARE) - 1];
    const [place, inside] = [Math.floor(column / (COLUMNS + 1)), column % (COLUMNS + 1)];
    if (column < 0 || row < 0 || row >= ROWS || inside === COLUMNS || place >= digits.length) return false;
    const bits = DIGITS[Number(digits[place])] ?? 0;
    return ((bits >> ((ROWS - 1 - row) * COLUMNS + (COLUMNS - 1 - inside))) & 1) === 1;
  };
  const lines = Buffer.alloc((width + 1) * height);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) lines[y * (width + 1) + x + 1] = isInk(x, y) ? BLACK : WHITE;
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  // eight bits of grey
  head[8] = 8;
  // its data begins at byte 42, a multiple of three, after one byte that fills up
  const note = hidden === '' ? [] : [chunk('prVt', Buffer.concat([Buffer.from([1]), spelled(hidden)]))];
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', head),
    ...note,
    chunk('IDAT', deflateSync(lines)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const typed = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(typed));
  return Buffer.concat([length, typed, sum]);
}
