import type { PreviewLimits, Size } from '../../../../gateway/ports/previewer.js';
import type { RenderResult } from '../protocol.js';
import { encode } from './encode.js';
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
  try {
    const header = await sharp(image, { ...options, limitInputPixels: false }).metadata();
    const height = header.pageHeight ?? header.height;
    if (header.width * height > limits.maxPixels) return { kind: 'refused', reason: 'too-many-pixels' };
    const scaling = scalingOf(header.format, Math.max(header.width, height), limits.maxEdge);
    small = await toRaster(
      sharp(image, options)
        .resize(scaling.edge, scaling.edge, { fit: 'inside', withoutEnlargement: true, kernel: scaling.kernel })
        .toColourspace('srgb'),
    );
    const isTurned = (UPRIGHT[header.orientation ?? 1]?.turn ?? 0) % 180 !== 0;
    pixels = isTurned ? { width: height, height: header.width } : { width: header.width, height };
    // After scaling, because turning needs the whole image in memory.
    small = await turnUpright(sharp, small, header.orientation);
  } catch (error) {
    return { kind: 'refused', reason: 'invalid', detail: error instanceof Error ? error.message.slice(0, 500) : '' };
  }
  const preview = await encode(sharp, small, limits);
  return preview === undefined
    ? { kind: 'refused', reason: 'not-small-enough' }
    : { kind: 'rendered', preview: { facts: { pixels }, image: preview } };
}

/** A preview this much smaller than it may be shows as much, because its bytes are limited too. */
const LITTLE_SMALLER = 0.85;

/**
 * Decoders of JPEG scale by 2, 4 and 8 at a fraction of the price, and sharp lets them when at least half as much again
 * is left to scale: for 4000 px that is from 1333 px downwards, not at 1568. A triangle then takes half of what lanczos
 * takes, and looks alike; the text of a screenshot needs the better one.
 */
function scalingOf(format: string | undefined, longest: number, maxEdge: number) {
  if (format !== 'jpeg') return { edge: maxEdge, kernel: 'lanczos3' } as const;
  const third = Math.floor(longest / 3);
  const edge = third < maxEdge && third >= maxEdge * LITTLE_SMALLER ? third : maxEdge;
  return { edge, kernel: 'linear' } as const;
}

async function turnUpright(sharp: Sharp, raster: Raster, orientation: number | undefined): Promise<Raster> {
  const upright = UPRIGHT[orientation ?? 1];
  if (upright === undefined) return raster;
  const turned = upright.turn === 0 ? raster : await toRaster(fromRaster(sharp, raster).rotate(upright.turn));
  return upright.mirror ? toRaster(fromRaster(sharp, turned).flop()) : turned;
}
