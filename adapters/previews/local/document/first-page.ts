import type sharpModule from 'sharp';
import type { PreviewLimits } from '../../../../gateway/ports/previewer.js';
import { encode } from '../image/encode.js';
import type { RenderResult } from '../protocol.js';
import { type Document, isForPassword, type Page, pdfium } from './pdfium.js';

/** The first page of a PDF, over white, and how many there are. A page that cannot be drawn leaves the number. */
export async function firstPage(
  sharp: typeof sharpModule,
  bytes: Buffer,
  limits: PreviewLimits,
): Promise<RenderResult> {
  const library = await pdfium.load();
  if (library === undefined) return { kind: 'refused', reason: 'unsupported', detail: 'PDFium is not installed' };
  let document: Document;
  try {
    document = await library.loadDocument(bytes);
  } catch (error) {
    if (isForPassword(error)) return { kind: 'rendered', preview: { facts: { isLocked: true } } };
    throw error;
  }
  try {
    const pages = document.getPageCount();
    if (pages < 1) return { kind: 'refused', reason: 'invalid', detail: 'no pages' };
    const image = await drawn(sharp, document.getPage(0), limits).catch(() => pdfium.giveUp());
    return { kind: 'rendered', preview: { facts: { pages }, ...(image && { image }) } };
  } finally {
    pdfium.close(document);
  }
}

async function drawn(sharp: typeof sharpModule, page: Page, limits: PreviewLimits) {
  const { originalWidth, originalHeight } = page.getOriginalSize();
  const scale = limits.maxEdge / Math.max(originalWidth, originalHeight);
  // a page a thousand times as long as it is wide has nothing to show
  if (!(Math.min(originalWidth, originalHeight) * scale >= 1)) return undefined;
  const { data, width, height } = await page.render({ scale, render: async ({ data: pixels }) => pixels });
  return encode(sharp, { data: Buffer.from(data), width, height, channels: 4 }, limits);
}
