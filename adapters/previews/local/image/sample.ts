import { fromRaster, type Raster, type Sharp } from './raster.js';

/** Edge of a tile: a multiple of JPEG's blocks of 8 and, with halved colours, 16 pixels. */
const TILE = 32;
/** A tile in eight: an estimate then costs an eighth of what it saves. */
const SHARE = 8;
/** Fewer tiles say little about a picture. */
const LEAST_TILES = 64;
/** Tiles in a row. libvips writes an image in strips of sixteen lines: one of a single tile's width takes three times as long. */
const TILES_IN_ROW = 16;

/** Tiles from all over a picture, side by side, and how much of the picture they are. */
export interface Sample {
  tiles: Raster;
  /** Pixels of the picture for each of the sample's. */
  ratio: number;
}

/**
 * @param tiles how many, instead of as many as the size of a JPEG needs
 * @returns the picture itself when it is small
 */
export function sampleOf(raster: Raster, tiles?: number): Sample {
  const { data, width, height, channels } = raster;
  const [columns, rows] = [Math.floor(width / TILE), Math.floor(height / TILE)];
  const wanted = tiles ?? Math.max(LEAST_TILES, Math.floor((columns * rows) / SHARE));
  const count = wanted - (wanted % TILES_IN_ROW);
  if (count * 2 > columns * rows) return { tiles: raster, ratio: 1 };
  const sample = { width: TILE * TILES_IN_ROW, height: TILE * (count / TILES_IN_ROW), channels };
  const pixels = Buffer.allocUnsafe(sample.width * sample.height * channels);
  const copied = TILE * channels;
  for (let tile = 0; tile < count; tile++) {
    // A step that shares no divisor with the columns would walk down one of them; a fraction of a tile does not.
    const at = Math.floor(((tile + 0.5) * columns * rows) / count);
    const from = (Math.floor(at / columns) * TILE * width + (at % columns) * TILE) * channels;
    const to = (Math.floor(tile / TILES_IN_ROW) * TILE * sample.width + (tile % TILES_IN_ROW) * TILE) * channels;
    for (let y = 0; y < TILE; y++) {
      const row = from + y * width * channels;
      data.copy(pixels, to + y * sample.width * channels, row, row + copied);
    }
  }
  return { tiles: { data: pixels, ...sample }, ratio: (width * height) / (sample.width * sample.height) };
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

/** Without Huffman tables of its own a JPEG takes half the time, and is a twentieth larger. */
export const JPEG = { optimizeCoding: false };

/** The qualities between which a JPEG's size is estimated. */
export const [LOW_QUALITY, HIGH_QUALITY] = [50, 80];

/** The size in bytes that the picture has as a JPEG. */
export async function jpegSize(sharp: Sharp, { tiles, ratio }: Sample, quality: number): Promise<number> {
  const { length } = await fromRaster(sharp, tiles)
    .jpeg({ ...JPEG, quality })
    .toBuffer();
  return JPEG_HEAD + Math.max(1, length - JPEG_HEAD) * ratio;
}

/** The sizes at other qualities, from those at LOW_QUALITY and HIGH_QUALITY. */
export function jpegSizes(atLow: number, atHigh: number): (quality: number) => number {
  const growth = Math.log(atHigh / atLow) / (HIGH_QUALITY - LOW_QUALITY);
  return (quality) => atLow * Math.exp(growth * (quality - LOW_QUALITY));
}

/** The size in bytes that the picture has as a PNG. Whole pictures compress better than their tiles. */
export async function pngSize(sharp: Sharp, sample: Sample, options: object): Promise<number> {
  return (await fromRaster(sharp, sample.tiles).png(options).toBuffer()).length * sample.ratio;
}
