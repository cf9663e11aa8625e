import type { Metadata } from 'sharp';
import { type Raster, type Sharp, toRaster } from './raster.js';

/** The ICC profile of RGB pixels. Other colours are converted while they are decoded. */
export function profileOf({ space, icc }: Metadata): Buffer | undefined {
  return space === 'srgb' || space === 'rgb16' ? icc : undefined;
}

/** The colours of a camera or a screen as sRGB. libvips takes the profile of pixels in memory from a TIFF alone. */
export function inSrgb(sharp: Sharp, raster: Raster, profile: Buffer): Promise<Raster> {
  return toRaster(sharp(tiff(raster, profile)).toColourspace('srgb'));
}

/** Types of fields (TIFF 6.0, section 2). */
const [SHORT, LONG, UNDEFINED] = [3, 4, 7];
const [HEAD_BYTES, FIELD_BYTES] = [8, 12];

/** An uncompressed TIFF of RGB or RGBA in one strip. */
function tiff({ data, width, height, channels }: Raster, profile: Buffer): Buffer {
  const bits = Buffer.from(Uint16Array.from({ length: channels }, () => 8).buffer);
  const fields = (bitsAt: number) => {
    const profileAt = bitsAt + bits.length;
    return [
      [256, LONG, 1, width],
      [257, LONG, 1, height],
      [258, SHORT, channels, bitsAt],
      // not compressed; RGB
      [259, SHORT, 1, 1],
      [262, SHORT, 1, 2],
      [273, LONG, 1, profileAt + profile.length],
      [277, SHORT, 1, channels],
      [278, LONG, 1, height],
      [279, LONG, 1, data.length],
      // alpha that the colours are not multiplied with
      ...(channels === 4 ? [[338, SHORT, 1, 2] as const] : []),
      [34675, UNDEFINED, profile.length, profileAt],
    ] as const;
  };
  const { length } = fields(0);
  const head = Buffer.alloc(HEAD_BYTES + 2 + length * FIELD_BYTES + 4);
  head.write('II*\0', 'latin1');
  head.writeUInt32LE(HEAD_BYTES, 4);
  head.writeUInt16LE(length, HEAD_BYTES);
  for (const [at, [tag, type, count, value]] of fields(head.length).entries()) {
    const start = HEAD_BYTES + 2 + at * FIELD_BYTES;
    head.writeUInt16LE(tag, start);
    head.writeUInt16LE(type, start + 2);
    head.writeUInt32LE(count, start + 4);
    head.writeUInt32LE(value, start + 8);
  }
  return Buffer.concat([head, bits, profile, data]);
}
