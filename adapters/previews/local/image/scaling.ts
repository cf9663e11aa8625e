import type { Metadata } from 'sharp';
import type { PreviewLimits } from '../../../../gateway/ports/previewer.js';
import { bytesOf } from './encode.js';

/** How a picture is scaled on its way from the decoder. */
export interface Scaling {
  /** Pixels. */
  edge: number;
  kernel: 'linear' | 'cubic';
  /** False when a PNG of the scaled picture would be too large. */
  mayBePng: boolean;
}

/** A picture as its header describes it. */
interface Source extends Metadata {
  /** Of the file. */
  bytes: number;
  /** Pixels of the longest edge. */
  longest: number;
}

/** A preview with this part of the edge that it may have shows as much, because its bytes are limited too. */
const LITTLE_SMALLER = 0.85;
/** Pixels of the edge of a photograph that would not fit if it were larger: models scale 4:3 pictures down to this. */
const DETAILED_EDGE = 1092;
/**
 * Bytes that a source has in the area of its preview, for each byte that the preview may have. With more of them no JPEG of that
 * edge fits.
 */
const DETAILED = 6;
/** Bytes for each pixel of a PNG. With more of them it holds little but photographs, whose JPEGs have a tenth of that or less. */
const PHOTOGRAPH = 1.1;
/**
 * A PNG that is scaled becomes 1.5 to 3 times as long as its part of the source (twelve screenshots and drawings), and in
 * no case shorter. The rest is for sources that were compressed less well.
 */
const MOST_FOR_PNG = 1.25;
/** Bytes of pixels for each byte of a source that was compressed as drawings are. */
const COMPRESSED = 4;

/**
 * The edge is one at which the preview's bytes will probably be enough: pixels that are scaled twice cost twice, 8 ms of a
 * screenshot's 22.
 */
export function scalingOf(source: Source, limits: PreviewLimits): Scaling {
  const { format, bytes, longest, width, height, channels } = source;
  const maxBytes = bytesOf(limits.maxEncodedBytes);
  const edge = format === 'jpeg' ? jpegEdge(longest, limits.maxEdge) : limits.maxEdge;
  const perByte = (bytes * (Math.min(edge, longest) / longest) ** 2) / maxBytes;
  const usual = perByte > DETAILED ? Math.min(edge, DETAILED_EDGE) : edge;
  return {
    edge: format === 'png' ? Math.min(usual, screenshotEdge(source, maxBytes)) : usual,
    // a triangle takes half of the time, and in a photograph looks alike; the text of a screenshot needs the better one
    kernel: format === 'jpeg' ? 'linear' : 'cubic',
    mayBePng: perByte <= MOST_FOR_PNG || bytes * COMPRESSED > width * height * channels,
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
 * About the largest edge at which a JPEG of a screenshot fits. What the source has at that area is 0.7 to 6 times as long as
 * the JPEG may be, the more the more bytes it has for a pixel: of eleven screenshots and drawings with 0.06 to 1.1 of them
 * the best edge was missed by -6 to +47 %.
 */
function screenshotEdge({ bytes, longest, width, height }: Source, maxBytes: number): number {
  const perPixel = bytes / (width * height);
  if (perPixel > PHOTOGRAPH) return Number.POSITIVE_INFINITY;
  return Math.ceil(longest * Math.sqrt(((1.2 + 4 * perPixel) * maxBytes) / bytes));
}
