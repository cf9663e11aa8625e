import type { PreviewImage, PreviewLimits } from '../../../../gateway/ports/previewer.js';
import { withoutIdleAlpha } from './alpha.js';
import { fromRaster, type Raster, type Sharp, toRaster } from './raster.js';
import {
  equalShare,
  HIGH_QUALITY,
  JPEG,
  jpegSize,
  jpegSizes,
  LOW_QUALITY,
  pngSize,
  type Sample,
  sampleOf,
} from './sample.js';

/** Above 82 a JPEG grows without looking better; below 50 text in it becomes unreadable before it gets much smaller. */
const BEST_QUALITY = 82;
const LEAST_QUALITY = LOW_QUALITY;
/** Estimates miss by a few per cent: aiming below the limit makes a second encoding rare. */
const AIM = 0.9;
/** A smaller edge shows nothing useful. */
const MIN_EDGE = 64;
/** Each round shrinks the edge by at least a tenth, so 1568 px reach MIN_EDGE in 31. */
const MAX_ROUNDS = 31;
/** The bytes of a JPEG grow with its edge to this power: less than its area, because detail that is scaled down gets denser. */
const GROWTH = 1.75;
/** A picture in which more than this share of pixels equals the left neighbour is drawn, not photographed. */
const DRAWN_SHARE = 0.5;
/** Compressing a PNG is slow: so few tiles say whether it can be small enough, which is all that is asked. */
const PNG_TILES = 32;
/** Levels above 6 take three times as long for a twentieth less; a palette takes longer still. */
const PNG = { compressionLevel: 6 };
/** A PNG of tiles is up to twice as long as its part of the whole. */
const MOST_SAVED_BY_WHOLE = 2;

/**
 * The best PNG or JPEG of `raster` within `limits.maxEncodedBytes`: PNG for drawn images (screenshots, diagrams) and
 * transparency, JPEG for photographs. Quality, then edge, is lowered by an estimate from tiles of the picture, so that
 * one encoding is usually enough.
 * @param mayBePng false when the source's bytes say that no PNG of the pixels can fit, which is 1.5 ms not to find out
 * @returns undefined when nothing is small enough
 */
export async function encode(
  sharp: Sharp,
  raster: Raster,
  limits: PreviewLimits,
  { mayBePng = true } = {},
): Promise<PreviewImage | undefined> {
  const maxBytes = bytesOf(limits.maxEncodedBytes);
  const image = withoutIdleAlpha(raster);
  const hasAlpha = image.channels % 2 === 0;
  if (hasAlpha || mayBePng) {
    const data = await encodePng(sharp, image, { maxBytes, hasAlpha });
    if (data) return { mimeType: 'image/png', data, width: image.width, height: image.height };
  }
  return encodeJpeg(sharp, hasAlpha ? await withoutAlpha(sharp, image) : image, maxBytes);
}

/** @returns undefined for a photograph, and for what is too large */
async function encodePng(
  sharp: Sharp,
  image: Raster,
  { maxBytes, hasAlpha }: { maxBytes: number; hasAlpha: boolean },
): Promise<Buffer | undefined> {
  const sample = sampleOf(image, PNG_TILES);
  if (!hasAlpha && equalShare(sample) <= DRAWN_SHARE) return undefined;
  if ((await pngSize(sharp, sample, PNG)) > maxBytes * MOST_SAVED_BY_WHOLE) return undefined;
  const data = await fromRaster(sharp, image).png(PNG).toBuffer();
  return data.length <= maxBytes ? data : undefined;
}

async function encodeJpeg(sharp: Sharp, image: Raster, maxBytes: number): Promise<PreviewImage | undefined> {
  const sample = sampleOf(image);
  let least = await jpegSize(sharp, sample, LEAST_QUALITY);
  let { width, height } = image;
  if (least <= maxBytes) {
    const quality = await bestQuality(sharp, { sample, least, maxBytes: maxBytes * AIM });
    const data = await fromRaster(sharp, image)
      .jpeg({ ...JPEG, quality })
      .toBuffer();
    if (data.length <= maxBytes) return { mimeType: 'image/jpeg', data, width, height };
    least = Math.max(least, data.length);
  }
  // the edge is what the estimate leaves at the least quality, so that no other quality has to be looked for
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const edge = Math.max(width, height);
    const next = Math.floor(edge * Math.min(0.9, ((maxBytes * AIM) / least) ** (1 / GROWTH)));
    if (next < MIN_EDGE) return undefined;
    const { data, info } = await fromRaster(sharp, image)
      .resize(next, next, { fit: 'inside', kernel: 'cubic' })
      .jpeg({ ...JPEG, quality: LEAST_QUALITY })
      .toBuffer({ resolveWithObject: true });
    ({ width, height } = info);
    if (data.length <= maxBytes) return { mimeType: 'image/jpeg', data, width, height };
    least = data.length;
  }
  return undefined;
}

/** @param least the size at LEAST_QUALITY, which is in most pictures the only one to be had */
async function bestQuality(
  sharp: Sharp,
  { sample, least, maxBytes }: { sample: Sample; least: number; maxBytes: number },
): Promise<number> {
  if (least >= maxBytes) return LEAST_QUALITY;
  const sizeAt = jpegSizes(least, await jpegSize(sharp, sample, HIGH_QUALITY));
  let quality = BEST_QUALITY;
  while (quality > LEAST_QUALITY && sizeAt(quality) > maxBytes) quality--;
  return quality;
}

/** Bytes behind a length of base64. */
export function bytesOf(encoded: number): number {
  return Math.floor(encoded / 4) * 3;
}

/** Over white, like most viewers. */
function withoutAlpha(sharp: Sharp, raster: Raster): Promise<Raster> {
  return toRaster(fromRaster(sharp, raster).flatten({ background: '#fff' }));
}
