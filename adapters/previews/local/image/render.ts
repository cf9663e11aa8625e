import type { Metadata, Sharp as Pipeline } from 'sharp';
import type { PreviewLimits, Size } from '../../../../gateway/ports/previewer.js';
import type { RenderResult } from '../protocol.js';
import { bytesOf, encode } from './encode.js';
import { fromRaster, type Raster, type Sharp, toRaster } from './raster.js';

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
export async function render(sharp: Sharp, image: Buffer, limits: PreviewLimits): Promise<RenderResult> {
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
  try {
    const header = await sharp(image, { ...options, limitInputPixels: false }).metadata();
    const height = header.pageHeight ?? header.height;
    if (header.width * height > limits.maxPixels) return { kind: 'refused', reason: 'too-many-pixels' };
    const scaling = scalingOf(header, { bytes: image.length, longest: Math.max(header.width, height) }, limits);
    const { edge, kernel } = scaling;
    mayBePng = scaling.mayBePng;
    const scaled = sharp(image, options).resize(edge, edge, { fit: 'inside', withoutEnlargement: true, kernel });
    small = await inSrgb(sharp, scaled, header);
    const isTurned = (UPRIGHT[header.orientation ?? 1]?.turn ?? 0) % 180 !== 0;
    pixels = isTurned ? { width: height, height: header.width } : { width: header.width, height };
    // After scaling, because turning needs the whole image in memory.
    small = await turnUpright(sharp, small, header.orientation);
  } catch (error) {
    return { kind: 'refused', reason: 'invalid', detail: error instanceof Error ? error.message.slice(0, 500) : '' };
  }
  const preview = await encode(sharp, small, limits, { mayBePng });
  return preview === undefined
    ? { kind: 'refused', reason: 'not-small-enough' }
    : { kind: 'rendered', preview: { facts: { pixels }, image: preview } };
}

/** A preview this much smaller than it may be shows as much, because its bytes are limited too. */
const LITTLE_SMALLER = 0.85;
/** The edge for a picture of which a larger preview would have to be scaled down again: models look at 4:3 pictures so. */
const DETAILED_EDGE = 1092;
/**
 * A source with so many bytes, at its preview's area, for each byte that the preview may have is full of detail: no
 * JPEG of such an area fits, nor a PNG, unless the source is one that was hardly compressed.
 */
const DETAILED = 6;
/** Bytes of pixels for each byte of a source that was compressed as drawings are. */
const COMPRESSED = 4;

interface Scaling {
  edge: number;
  kernel: 'linear' | 'cubic';
  /** False when a PNG of the scaled picture would be too large, which no drawing's is that takes fewer bytes itself. */
  mayBePng: boolean;
}

/** How a picture is scaled while it is decoded. @param longest its longest edge */
function scalingOf(
  { format, width, height, channels }: Metadata,
  { bytes, longest }: { bytes: number; longest: number },
  { maxEdge, maxEncodedBytes }: PreviewLimits,
): Scaling {
  const edge = format === 'jpeg' ? jpegEdge(longest, maxEdge) : maxEdge;
  const share = (Math.min(edge, longest) / longest) ** 2;
  const isDetailed = bytes * share > DETAILED * bytesOf(maxEncodedBytes);
  return {
    mayBePng: !isDetailed || bytes * COMPRESSED > width * height * channels,
    edge: isDetailed ? Math.min(edge, DETAILED_EDGE) : edge,
    // a triangle takes half of the time, and in a photograph looks alike; the text of a screenshot needs the better one
    kernel: format === 'jpeg' ? 'linear' : 'cubic',
  };
}

/**
 * Decoders of JPEG scale by 2, 4 and 8 at a fraction of the price, and sharp lets them when at least half as much again
 * is left to scale: for 4000 px that is from 1333 px downwards, not at 1568.
 */
function jpegEdge(longest: number, maxEdge: number): number {
  const third = Math.floor(longest / 3);
  return third < maxEdge && third >= maxEdge * LITTLE_SMALLER ? third : maxEdge;
}

/**
 * Colours of a camera or a screen become sRGB after scaling, which leaves a third of the pixels to convert: before it, that
 * takes as long as half of the decoding. A TIFF in memory brings the profile along.
 */
async function inSrgb(sharp: Sharp, scaled: Pipeline, { space, hasProfile }: Metadata): Promise<Raster> {
  const small = scaled.toColourspace('srgb');
  if (!hasProfile || (space !== 'srgb' && space !== 'rgb16')) return toRaster(small);
  const tiff = await small.keepIccProfile().tiff({ compression: 'none' }).toBuffer();
  return toRaster(sharp(tiff).toColourspace('srgb'));
}

async function turnUpright(sharp: Sharp, raster: Raster, orientation: number | undefined): Promise<Raster> {
  const upright = UPRIGHT[orientation ?? 1];
  if (upright === undefined) return raster;
  const turned = upright.turn === 0 ? raster : await toRaster(fromRaster(sharp, raster).rotate(upright.turn));
  return upright.mirror ? toRaster(fromRaster(sharp, turned).flop()) : turned;
}
