import { describe, expect, it } from '@jest/globals';
import sharp, { type Sharp } from 'sharp';
import { toRaster } from '../../../adapters/previews/local/image/raster.js';
import {
  equalShare,
  HIGH_QUALITY,
  jpegSize,
  jpegSizes,
  LOW_QUALITY,
  sampleOf,
} from '../../../adapters/previews/local/image/sample.js';
import { drawing, noise } from './image-files.js';

/** Left half drawn, right half noise: what is seen in one place says nothing about the other. */
async function halves(): Promise<Sharp> {
  const left = await drawing(700, 900).png().toBuffer();
  return noise(1400, 900, 3).composite([{ input: left, left: 0, top: 0 }]);
}

describe('a sample of a picture', () => {
  it.each<[string, () => Sharp | Promise<Sharp>]>([
    ['noise', () => noise(1568, 1176, 3)],
    ['soft shapes', () => noise(1500, 900, 3).blur(4)],
    ['noise and a drawing', halves],
    ['a row of pixels', () => noise(1568, 1, 3)],
    ['a grey picture', () => noise(1200, 800, 3).greyscale()],
  ])('tells the size of its JPEG to a fifth: %s', async (_what, make) => {
    const raster = await toRaster(await make());
    const sample = sampleOf(raster);
    const [atLow, atHigh] = [await jpegSize(sharp, sample, LOW_QUALITY), await jpegSize(sharp, sample, HIGH_QUALITY)];
    const sizeAt = jpegSizes(atLow, atHigh);
    for (const quality of [50, 65, 80]) {
      const { data, width, height, channels } = raster;
      const jpeg = sharp(data, { raw: { width, height, channels } }).jpeg({ quality, optimizeCoding: false });
      const { length } = await jpeg.toBuffer();
      expect(sizeAt(quality) / length).toBeGreaterThan(0.8);
      expect(sizeAt(quality) / length).toBeLessThan(1.25);
    }
  });

  it('is a small part of a large picture, from all over it', async () => {
    const { tiles, ratio } = sampleOf(await toRaster(await halves()));
    expect(ratio).toBeGreaterThan(7);
    const share = equalShare({ tiles, ratio });
    expect(share).toBeGreaterThan(0.35);
    expect(share).toBeLessThan(0.65);
  });

  it('is the picture itself when that is small', async () => {
    const raster = await toRaster(noise(100, 80, 3));
    expect(sampleOf(raster)).toEqual({ tiles: raster, ratio: 1 });
  });
});
