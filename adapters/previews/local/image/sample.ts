import { fromRaster, type Raster, type Sharp } from './raster.js';

/** Edge of a tile: a multiple of JPEG's blocks of 8 and, with halved colours, 16 pixels. */
const TILE = 32;
/** A tile in sixteen: an estimate then costs a sixteenth of what it saves. */
const SHARE = 16;
/** Fewer tiles say little about a picture. */
const LEAST_TILES = 64;

/** Tiles from all over a picture, side by side, and how much of the picture they are. */
export interface Sample {
  tiles: Raster;
  /** Pixels of the picture for each of the sample's. */
  ratio: number;
}

/** @returns the picture itself when it is small */
export function sampleOf(raster: Raster): Sample {
  const { data, width, height, channels } = raster;
  const [columns, rows] = [Math.floor(width / TILE), Math.floor(height / TILE)];
  const count = Math.max(LEAST_TILES, Math.floor((columns * rows) / SHARE));
  if (count * 2 > columns * rows) return { tiles: raster, ratio: 1 };
  const row = TILE * channels;
  const tiles = Buffer.allocUnsafe(count * TILE * row);
  for (let tile = 0; tile < count; tile++) {
    // A step that shares no divisor with the columns would walk down one of them; a fraction of a tile does not.
    const at = Math.floor(((tile + 0.5) * columns * rows) / count);
    const corner = (Math.floor(at / columns) * TILE * width + (at % columns) * TILE) * channels;
    for (let y = 0; y < TILE; y++) {
      const from = corner + y * width * channels;
      data.copy(tiles, (tile * TILE + y) * row, from, from + row);
    }
  }
  const sample: Raster = { data: tiles, width: TILE, height: count * TILE, channels };
  return { tiles: sample, ratio: (width * height) / (TILE * TILE * count) };
}

/** The part of the pixels that equal their left neighbour. */
export function equalShare({ tiles: { data, width, channels } }: Sample): number {
  let [equal, seen] = [0, 0];
  const row = width * channels;
  for (let start = 0; start < data.length; start += row) {
    for (let at = start + channels; at < start + row; at += channels) {
      seen++;
      let channel = 0;
      while (channel < channels && data[at + channel] === data[at + channel - channels]) channel++;
      if (channel === channels) equal++;
    }
  }
  return seen === 0 ? 0 : equal / seen;
}

/** Bytes of a JPEG's tables, which do not grow with the picture. */
const JPEG_HEAD = 620;

/** The size in bytes that the picture has as a JPEG of any quality: measured at two, estimated between them. */
export async function jpegSizes(sharp: Sharp, sample: Sample): Promise<(quality: number) => number> {
  const measured = async (quality: number): Promise<number> => {
    const { length } = await fromRaster(sharp, sample.tiles).jpeg({ quality, optimizeCoding: false }).toBuffer();
    return JPEG_HEAD + Math.max(1, length - JPEG_HEAD) * sample.ratio;
  };
  const [low, high] = [50, 80];
  const [atLow, atHigh] = [await measured(low), await measured(high)];
  const growth = Math.log(atHigh / atLow) / (high - low);
  return (quality) => atLow * Math.exp(growth * (quality - low));
}

/** The size in bytes that the picture has as a PNG. Whole pictures compress better than their tiles. */
export async function pngSize(sharp: Sharp, sample: Sample, options: object): Promise<number> {
  return (await fromRaster(sharp, sample.tiles).png(options).toBuffer()).length * sample.ratio;
}
