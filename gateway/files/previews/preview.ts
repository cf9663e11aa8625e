import { isTextual } from '../../policy/accept.js';
import type { Preview } from '../../ports/dialect.js';
import type { Log } from '../../ports/log.js';
import type { Metrics } from '../../ports/metrics.js';
import type { Owner } from '../../ports/owner.js';
import type { OpenFile, PixelExcess, Previewer, PreviewLimits, PreviewSource } from '../../ports/previewer.js';

/**
 * Limits of a preview. 1568 px is the longest edge that vision models use before they scale an image down themselves;
 * 100 KiB of base64 keeps a result with several previews well below what clients accept. A text tells what a file is,
 * and is not meant to replace it.
 */
export const PREVIEW_LIMITS: Readonly<PreviewLimits> = {
  maxEdge: 1568,
  maxEncodedBytes: 100 * 1024,
  maxPixels: 50_000_000,
  maxText: 2000,
  maxLines: 20,
};

export interface PreviewJob {
  /** The type shown by the file's first bytes. */
  sniffedMime: string | undefined;
  /** The recorded type and size. */
  record: { mimeType: string; size: number };
  /** Opens the stored bytes; called only for a file that may get a preview. */
  open: OpenFile;
  /** See PreviewSource. */
  release?: PreviewSource['release'];
  previewer: Previewer;
  /** The file's owner. */
  owner?: Owner;
  signal: AbortSignal;
  log: Log;
  metrics: Metrics;
  limits?: Readonly<PreviewLimits>;
}

/**
 * The type that a preview goes by: the sniffed one, never the declared one. Only of text, which has no signature, is the
 * declared one taken: the worst that a lie can do is to show the first bytes of the file as text.
 */
export function previewType(sniffedMime: string | undefined, declared: string): string | undefined {
  const isText = isTextual(declared) && (sniffedMime === undefined || isTextual(sniffedMime));
  return isText ? declared : sniffedMime;
}

/**
 * The preview of a stored file. A file without one is still delivered, so this never rejects.
 * @returns undefined when the file's type has no preview or the previewer refused it; why, where a smaller image would have one
 */
export async function previewOf(job: PreviewJob): Promise<Preview | undefined> {
  const { sniffedMime, record, open, release, previewer, limits = PREVIEW_LIMITS, signal, owner, metrics } = job;
  const mimeType = previewType(sniffedMime, record.mimeType);
  if (mimeType === undefined || !previewer.takes(mimeType) || signal.aborted) return undefined;
  try {
    const source = { mimeType, size: record.size, open, release };
    const result = await previewer.render(source, limits, signal, owner);
    metrics.count('wharf_previews_total', { outcome: result.kind === 'rendered' ? 'rendered' : result.reason });
    if (result.kind === 'refused') return result.excess && tooLarge(result.excess);
    const { image, ...rest } = result.preview;
    if (image === undefined) return rest;
    const { data, ...about } = image;
    return { ...rest, image: { ...about, base64: data.toString('base64') } };
  } catch (error) {
    metrics.count('wharf_previews_total', { outcome: 'failed' });
    job.log.warn({ err: error }, 'A preview could not be made.');
    return undefined;
  }
}

function tooLarge({ pixels, allowed }: PixelExcess): Preview {
  return { facts: { pixels }, mostPixels: allowed };
}
