import type { Metadata } from 'sharp';
import type { ContentFacts, PreviewLimits, Size } from '../../../../gateway/ports/previewer.js';
import type { Job, RenderResult } from '../protocol.js';
import { withoutIdleAlpha } from './alpha.js';
import { encode } from './encode.js';
import { inSrgb, profileOf } from './profile.js';
import { fromRaster, type Raster, type Sharp, toRaster } from './raster.js';
import { scalingOf } from './scaling.js';

/** libvips' loaders for the formats in `format`. Every other loader is switched off. */
const LOADERS = ['Jpeg', 'Png', 'Webp', 'Nsgif', 'Heif', 'Tiff'].map((format) => `VipsForeignLoad${format}`);

/** Configures libvips: no cache between two peers' images, one thread, only the loaders above. */
export function harden(sharp: Sharp): void {
  sharp.cache(false);
  sharp.concurrency(1);
  sharp.block({ operation: ['VipsForeignLoad'] });
  sharp.unblock({ operation: LOADERS });
}

/** EXIF orientations 1 to 8 as the clockwise turn, then the mirroring, that bring the image upright. */
const UPRIGHT: Readonly<Record<number, { turn: number; mirror: boolean }>> = {
  2: { turn: 0, mirror: true },
  3: { turn: 180, mirror: false },
  4: { turn: 180, mirror: true },
  5: { turn: 90, mirror: true },
  6: { turn: 90, mirror: false },
  7: { turn: 270, mirror: true },
  8: { turn: 270, mirror: false },
};

/**
 * Renders one image: reads the header first, scales the first frame down while decoding it, turns it upright, and
 * encodes bare pixels, so that no metadata of the source survives.
 */
export async function render(
  sharp: Sharp,
  image: Buffer,
  limits: PreviewLimits & Pick<Job, 'maxMemory'>,
): Promise<RenderResult> {
  const options = {
    failOn: 'error',
    // The header's size is checked here first, to distinguish "too many pixels" from "damaged"; libvips enforces it
    // too.
    limitInputPixels: limits.maxPixels,
    limitInputChannels: 5,
    sequentialRead: true,
    pages: 1,
  } as const;

  let small: Raster;
  let pixels: Size;
  let mayBePng: boolean;
  let several: ContentFacts;
  try {
    const header = await sharp(image, { ...options, limitInputPixels: false }).metadata();
    const height = header.pageHeight ?? header.height;
    const isTurned = (UPRIGHT[header.orientation ?? 1]?.turn ?? 0) % 180 !== 0;
    pixels = isTurned ? { width: height, height: header.width } : { width: header.width, height };
    const maxPixels = limits.maxPixels * (shrinksAsItDecodes(header) ? MORE_OF_JPEG : 1);
    if (header.width * height > maxPixels)
      return { kind: 'refused', reason: 'too-many-pixels', excess: { pixels, allowed: maxPixels } };
    if (leastMemory(header) > limits.maxMemory) return { kind: 'refused', reason: 'memory' };
    several = severalIn(header);
    const longest = Math.max(header.width, height);
    const { edge, kernel, ...rest } = scalingOf({ ...header, bytes: image.length, longest }, limits);
    ({ mayBePng } = rest);
    const profile = profileOf(header);
    const decode = sharp(image, { ...options, limitInputPixels: maxPixels, ignoreIcc: profile !== undefined });
    const decoded = mayHaveIdleAlpha(header) ? fromRaster(sharp, withoutIdleAlpha(await toRaster(decode))) : decode;
    const scaled = decoded.resize(edge, edge, { fit: 'inside', withoutEnlargement: true, kernel });
    small = await toRaster(scaled.toColourspace('srgb'));
    // A third of the pixels is left to convert now: all of them take as long as half of the decoding.
    if (profile) small = await inSrgb(sharp, small, profile);
    // After scaling, because turning needs the whole image in memory.
    small = await turnUpright(sharp, small, header.orientation);
  } catch (error) {
    return { kind: 'refused', reason: 'invalid', detail: error instanceof Error ? error.message.slice(0, 500) : '' };
  }
  const preview = await encode(sharp, small, limits, { mayBePng });
  return preview === undefined
    ? { kind: 'refused', reason: 'not-small-enough' }
    : { kind: 'rendered', preview: { facts: { pixels, ...several }, image: preview } };
}

/** How many images the file has, if more than the one that is shown. A TIFF's may be pages, or one page in several sizes. */
function severalIn({ format, pages = 1 }: Metadata): ContentFacts {
  if (pages < 2) return {};
  if (format === 'tiff') return { images: pages };
  return format === 'gif' || format === 'webp' ? { frames: pages } : {};
}

async function turnUpright(sharp: Sharp, raster: Raster, orientation: number | undefined): Promise<Raster> {
  const upright = UPRIGHT[orientation ?? 1];
  if (upright === undefined) return raster;
  const turned = upright.turn === 0 ? raster : await toRaster(fromRaster(sharp, raster).rotate(upright.turn));
  return upright.mirror ? toRaster(fromRaster(sharp, turned).flop()) : turned;
}

/**
 * As many times the pixels may a JPEG have that is scaled down by 4 or 8 as it is decoded: 108 megapixels of a camera took
 * 20 MiB and 0.3 s of processor time, 199 of one colour 22 MiB and 0.13 s. Phones take pictures of up to 200.
 */
const MORE_OF_JPEG = 4;

/** A JPEG in several scans, such as a progressive one, is in memory as a whole: 330 MiB of 108 megapixels. */
function shrinksAsItDecodes({ format, isProgressive }: Metadata): boolean {
  return format === 'jpeg' && !isProgressive;
}

/** Bytes that the process has before it decodes: 63 MiB, measured. */
const LEAST_RESIDENT = 60 * 1024 * 1024;

/** An AVIF is decoded whole: 19 to 27 bytes for each pixel, measured from 4 to 24 megapixels, with 8 and 10 bits. */
const LEAST_OF_AVIF = 18;

/** Bytes without which it cannot be decoded. On a busy machine the process is looked at too late to stop it in time. */
function leastMemory({ format, width, height }: Metadata): number {
  return format === 'heif' ? LEAST_RESIDENT + width * height * LEAST_OF_AVIF : 0;
}

/** Bytes of pixels that may be in memory at once, in a process that has 256 MiB and is given up to 32. */
const MOST_DECODED = 48 * 1024 * 1024;

/**
 * Screenshots often have an alpha channel in which nothing is transparent. libvips multiplies colours with it before it
 * scales, which takes 13 ms of 1920 × 1080 pixels; to look at the pixels first takes 5.
 */
function mayHaveIdleAlpha({ format, channels, depth, width, height }: Metadata): boolean {
  return format === 'png' && channels === 4 && depth === 'uchar' && width * height * channels <= MOST_DECODED;
}
