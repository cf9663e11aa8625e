import { isTextual } from '../../../gateway/policy/accept.js';

/** What a render process does with a file. */
export type PreviewKind = 'image' | 'document' | 'text' | 'archive' | 'recording';

/** Kinds of which the process needs every byte. It asks for the ranges that it needs of all others. */
const WHOLE: ReadonlySet<PreviewKind> = new Set(['image', 'document']);

/** SVG is a program: rendering it means running a peer's code. */
const IMAGES = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif', 'image/tiff']);

/** @returns undefined for a type without previews */
export function kindOf(mimeType: string): PreviewKind | undefined {
  if (IMAGES.has(mimeType)) return 'image';
  if (mimeType === 'application/pdf') return 'document';
  if (mimeType === 'application/zip') return 'archive';
  if (/^(?:audio|video)\//.test(mimeType) || mimeType === 'application/ogg') return 'recording';
  return isTextual(mimeType) ? 'text' : undefined;
}

/** True for a kind of which the process needs every byte. */
export function needsAll(kind: PreviewKind): boolean {
  return WHOLE.has(kind);
}
