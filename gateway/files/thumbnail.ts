import type { Log } from '../ports/log.js';
import type { Metrics } from '../ports/metrics.js';
import type { Owner } from '../ports/owner.js';
import type { OpenImage, PreviewLimits, Thumbnailer } from '../ports/thumbnailer.js';

/**
 * Limits of a preview. 1568 px is the longest edge that vision models use before they scale an image down themselves;
 * 100 KiB of base64 keeps a result with several previews well below what clients accept.
 */
export const PREVIEW_LIMITS: Readonly<PreviewLimits> = {
  maxEdge: 1568,
  maxEncodedBytes: 100 * 1024,
  maxPixels: 50_000_000,
};

/** Raster images only. SVG and PDF are programs: rendering them means running a peer's code. */
const RASTER = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif', 'image/tiff']);

/** A rendered preview, ready for an image block. */
export interface PreviewImage {
  mimeType: 'image/png' | 'image/jpeg';
  base64: string;
  /** Pixels. */
  width: number;
  height: number;
  /** Pixels of the original image. */
  source: { width: number; height: number };
}

export interface PreviewJob {
  /** The type shown by the file's first bytes, never the declared one. */
  sniffedMime: string | undefined;
  /** Opens the stored bytes; called only for a file that may get a preview. */
  open: OpenImage;
  thumbnailer: Thumbnailer;
  /** The file's owner. */
  owner?: Owner;
  signal: AbortSignal;
  log: Log;
  metrics: Metrics;
  limits?: Readonly<PreviewLimits>;
}

/** True when a file of this sniffed type can have a preview. */
export function canHavePreview(sniffedMime: string | undefined): boolean {
  return sniffedMime !== undefined && RASTER.has(sniffedMime);
}

/**
 * The preview of a stored file. A file without one is still delivered, so this never rejects.
 * @returns undefined when the file is not a raster image or the thumbnailer refused it
 */
export async function previewOf(job: PreviewJob): Promise<PreviewImage | undefined> {
  if (!canHavePreview(job.sniffedMime) || job.signal.aborted) return undefined;
  try {
    const result = await job.thumbnailer.render(job.open, job.limits ?? PREVIEW_LIMITS, job.signal, job.owner);
    job.metrics.count('wharf_previews_total', { outcome: result.kind === 'rendered' ? 'rendered' : result.reason });
    if (result.kind === 'refused') return undefined;
    const { data, ...about } = result.preview;
    return { ...about, base64: data.toString('base64') };
  } catch (error) {
    job.metrics.count('wharf_previews_total', { outcome: 'failed' });
    job.log.warn({ err: error }, 'A preview could not be made.');
    return undefined;
  }
}
