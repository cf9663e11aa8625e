import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { BENCH_DIRECTORY } from '../lib/paths.js';

/** Pictures as people have them, made by `lib/pictures.ts` and read from there by every server of the bench. */

export type PictureName = 'screenshot' | 'photo';

const TYPES: Readonly<Record<PictureName, { mimeType: string; file: string }>> = {
  screenshot: { mimeType: 'image/png', file: 'screenshot.png' },
  photo: { mimeType: 'image/jpeg', file: 'photo.jpg' },
};

export const picturePath = (name: PictureName) => join(BENCH_DIRECTORY, '.pictures', TYPES[name].file);

/** Where a PNG's chunks, or a JPEG's segments, may have a comment: behind signature and IHDR, behind SOI. */
const [PNG_COMMENT_AT, JPEG_COMMENT_AT] = [33, 2];

function pngComment(text: string): Buffer {
  const body = Buffer.from(`tEXtComment\0${text}`, 'latin1');
  const chunk = Buffer.alloc(body.length + 8);
  chunk.writeUInt32BE(body.length - 4, 0);
  body.copy(chunk, 4);
  chunk.writeUInt32BE(crc32(body), body.length + 4);
  return chunk;
}

function jpegComment(text: string): Buffer {
  const segment = Buffer.alloc(4 + text.length);
  segment.writeUInt16BE(0xfffe, 0);
  segment.writeUInt16BE(2 + text.length, 2);
  segment.write(text, 4, 'latin1');
  return segment;
}

interface Picture {
  mimeType: string;
  /** Base64 from before the comment to the end, except the first bytes. */
  rest: Buffer;
  /** The first bytes with a comment in them, whole quads of base64. */
  begin: (text: string) => Buffer;
  /** Bytes of a comment's text. */
  textBytes: number;
}

const pictures = new Map<PictureName, Picture>();

function read(name: PictureName): Picture {
  const bytes = readFileSync(picturePath(name));
  const [at, comment] = name === 'screenshot' ? [PNG_COMMENT_AT, pngComment] : [JPEG_COMMENT_AT, jpegComment];
  // as long as is needed for the rest to begin with a quad
  const textBytes = 12 + ((3 - ((at + comment('').length) % 3)) % 3);
  const begin = (text: string) =>
    Buffer.from(Buffer.concat([bytes.subarray(0, at), comment(text)]).toString('base64'), 'latin1');
  const rest = Buffer.from(bytes.subarray(at).toString('base64'), 'latin1');
  return { mimeType: TYPES[name].mimeType, rest, begin, textBytes };
}

/** A picture as base64, whose bytes differ from those of every other number: a store knows equal ones again. */
export function pictureText(name: PictureName, number: number): { mimeType: string; pieces: Buffer[]; bytes: number } {
  const picture = pictures.get(name) ?? read(name);
  pictures.set(name, picture);
  const begin = picture.begin(String(number).padStart(picture.textBytes, '0'));
  return { mimeType: picture.mimeType, pieces: [begin, picture.rest], bytes: begin.length + picture.rest.length };
}
