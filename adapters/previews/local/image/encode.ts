import type { PreviewImage, PreviewLimits } from '../../../../gateway/ports/previewer.js';
import { fromRaster, type Raster, type Sharp, toRaster } from './raster.js';

/** Below 50, text in a photograph becomes unreadable before the file gets much smaller. */
const JPEG_QUALITIES = [82, 68, 50];
/** A smaller edge shows nothing useful. */
const MIN_EDGE = 64;
/** Each round shrinks the edge by at least a tenth, so 1568 px reach MIN_EDGE in 31. */
const MAX_ROUNDS = 31;
/** An image in which more than this share of pixels equals the left neighbour is drawn, not photographed. */
const DRAWN_SHARE = 0.5;

/**
 * The best PNG or JPEG of `raster` within `limits.maxEncodedBytes`: PNG for drawn images (screenshots, diagrams) and
 * transparency, JPEG for photographs. It lowers first the quality, then the edge.
 * @returns undefined when nothing is small enough
 */
export async function encode(sharp: Sharp, raster: Raster, limits: PreviewLimits): Promise<PreviewImage | undefined> {
  const maxBytes = Math.floor(limits.maxEncodedBytes / 4) * 3;
  const image = isOpaque(raster) ? await withoutAlpha(sharp, raster) : raster;
  const hasAlpha = image.channels % 2 === 0;
  if (hasAlpha || isDrawn(image)) {
    const preview = await encodePng(sharp, image, maxBytes);
    if (preview !== undefined) return preview;
  }
  return encodeJpeg(sharp, hasAlpha ? await withoutAlpha(sharp, image) : image, maxBytes);
}

/** Measured on drawings and noise, 256 colours make a PNG three to six times smaller. */
const MOST_SAVED_BY_PALETTE = 8;

/** Tries all colours, then 256. An image that needs more room than that is better as a JPEG. */
async function encodePng(sharp: Sharp, image: Raster, maxBytes: number): Promise<PreviewImage | undefined> {
  for (const options of [{ compressionLevel: 9 }, { compressionLevel: 9, palette: true, effort: 3, dither: 0.5 }]) {
    const data = await fromRaster(sharp, image).png(options).toBuffer();
    if (data.length <= maxBytes) return { mimeType: 'image/png', data, width: image.width, height: image.height };
    if (data.length > maxBytes * MOST_SAVED_BY_PALETTE) break;
  }
  return undefined;
}

async function encodeJpeg(sharp: Sharp, image: Raster, maxBytes: number): Promise<PreviewImage | undefined> {
  let current = image;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    let size = 0;
    for (const quality of JPEG_QUALITIES) {
      const data = await fromRaster(sharp, current).jpeg({ quality }).toBuffer();
      if (data.length <= maxBytes)
        return { mimeType: 'image/jpeg', data, width: current.width, height: current.height };
      size = data.length;
    }
    // Bytes grow about as the area does; the last tenth is reserved so that a round rarely misses by little.
    const edge = Math.max(current.width, current.height);
    const next = Math.floor(edge * Math.min(0.9, Math.sqrt(maxBytes / size)));
    if (next < MIN_EDGE) return undefined;
    current = await toRaster(fromRaster(sharp, image).resize(next, next, { fit: 'inside' }));
  }
  return undefined;
}

function isOpaque({ data, channels }: Raster): boolean {
  if (channels % 2 === 1) return false;
  for (let at = channels - 1; at < data.length; at += channels) if (data[at] !== 255) return false;
  return true;
}

/** Over white, like most viewers. */
function withoutAlpha(sharp: Sharp, raster: Raster): Promise<Raster> {
  return toRaster(fromRaster(sharp, raster).flatten({ background: '#fff' }));
}

function isDrawn({ data, channels }: Raster): boolean {
  let equal = 0;
  for (let at = channels; at < data.length; at += channels) {
    let same = true;
    for (let channel = 0; channel < channels && same; channel++)
      same = data[at + channel] === data[at + channel - channels];
    if (same) equal++;
  }
  return equal > (data.length / channels) * DRAWN_SHARE;
}
