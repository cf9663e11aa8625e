import { crc32, deflateSync } from 'node:zlib';
import sharp, { type Sharp } from 'sharp';

/** Images made by hand, so that they can lie. Every number of bytes and pixels is what the name says. */

export function pngChunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const chunk = Buffer.alloc(8 + data.length + 4);
  chunk.writeUInt32BE(data.length, 0);
  body.copy(chunk, 4);
  chunk.writeUInt32BE(crc32(body), 8 + data.length);
  return chunk;
}

const PNG_SIGNATURE = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');

/** A grey PNG of one bit a pixel; `rows` of them are really there. Extra chunks stand before the pixels. */
export function greyPng(width: number, height: number, rows: number, extra: Buffer[] = []): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header[8] = 1;
  const pixels = deflateSync(Buffer.alloc((Math.ceil(width / 8) + 1) * rows), { level: 1 });
  return Buffer.concat([
    PNG_SIGNATURE,
    pngChunk('IHDR', header),
    ...extra,
    pngChunk('IDAT', pixels),
    pngChunk('IEND', Buffer.alloc(0)),
  ]);
}

/** A chunk whose text or profile unpacks to `bytes` zeros. */
export function bombChunk(type: 'iCCP' | 'zTXt', bytes: number): Buffer {
  return pngChunk(type, Buffer.concat([Buffer.from('name\0\0', 'latin1'), deflateSync(Buffer.alloc(bytes))]));
}

/** The head of a JPEG that claims a size and then has no pixels. */
export function lyingJpeg(width: number, height: number): Buffer {
  const frame = Buffer.from([0xff, 0xc0, 0, 17, 8, height >> 8, height & 255, width >> 8, width & 255, 3]);
  const components = Buffer.from([1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0]);
  const scan = Buffer.from([0xff, 0xda, 0, 12, 3, 1, 0, 2, 0, 3, 0, 0, 63, 0]);
  return Buffer.concat([Buffer.from([0xff, 0xd8]), frame, components, scan, Buffer.alloc(64)]);
}

/** A TIFF directory with the given tags, whose next directory is itself. */
export function loopingTiff(tags: readonly (readonly [tag: number, value: number])[]): Buffer {
  const directory = Buffer.alloc(2 + tags.length * 12 + 4);
  directory.writeUInt16LE(tags.length, 0);
  tags.forEach(([tag, value], index) => {
    const at = 2 + index * 12;
    directory.writeUInt16LE(tag, at);
    directory.writeUInt16LE(4, at + 2);
    directory.writeUInt32LE(1, at + 4);
    directory.writeUInt32LE(value, at + 8);
  });
  directory.writeUInt32LE(8, directory.length - 4);
  return Buffer.concat([Buffer.from('II*\0\x08\0\0\0', 'latin1'), directory, Buffer.alloc(64)]);
}

/** A GIF of `frames` frames on a screen of the given size; each frame is one pixel. */
export function gif(width: number, height: number, frames: number): Buffer {
  const header = Buffer.from('GIF89a\0\0\0\0\x80\0\0\0\0\0\xff\xff\xff', 'latin1');
  header.writeUInt16LE(width, 6);
  header.writeUInt16LE(height, 8);
  const frame = Buffer.from('!\xf9\x04\0\x0a\0\0\0,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0', 'latin1');
  return Buffer.concat([header, ...Array.from({ length: frames }, () => frame), Buffer.from(';')]);
}

/** Pixels like a photograph's: no two neighbours alike, the same on every run. */
export function noise(width: number, height: number, channels: 3 | 4): Sharp {
  const words = new Uint32Array(Math.ceil((width * height * channels) / 4));
  let seed = 1;
  for (let at = 0; at < words.length; at++) {
    seed ^= seed << 13;
    seed ^= seed >>> 17;
    seed ^= seed << 5;
    words[at] = seed;
  }
  const data = Buffer.from(words.buffer, 0, width * height * channels);
  return sharp(data, { raw: { width, height, channels } });
}

/** Three images in one file, each 64 × 48, of three colours. */
export async function series(): Promise<Sharp> {
  const background = (red: number) => ({ r: red, g: 0, b: 0 });
  const frames = [10, 90, 170].map((red) =>
    sharp({ create: { width: 64, height: 48, channels: 3, background: background(red) } })
      .png()
      .toBuffer(),
  );
  return sharp(await Promise.all(frames), { join: { animated: true } });
}

/** A drawing: large areas of one colour. */
export function drawing(width: number, height: number): Sharp {
  const row = Buffer.alloc(width * 3, 255);
  for (let x = 0; x < width; x += 128) row.fill(40, x * 3, Math.min(x + 64, width) * 3);
  const shifted = Buffer.concat([row.subarray(64 * 3), row.subarray(0, 64 * 3)]);
  const data = Buffer.allocUnsafe(width * height * 3);
  for (let y = 0; y < height; y++) (y & 64 ? shifted : row).copy(data, y * row.length);
  return sharp(data, { raw: { width, height, channels: 3 } });
}
