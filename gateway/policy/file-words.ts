import { sizeText } from './amounts.js';

/** Pixels. */
interface Pixels {
  width: number;
  height: number;
}

/** The facts about a file that texts repeat. */
interface Told {
  name: string;
  mimeType: string;
  size: number;
}

/**
 * What a model reads about a file: one fact a line, no Markdown, and the link alone on its line, so that it can be
 * copied whole.
 * @param more further facts about its content, such as its pixels
 */
export function fileLine({ name, mimeType, size }: Told, more: readonly string[] = []): string {
  return [name, mimeType, sizeText(size), ...more].join(' · ');
}

/** Who can use a link, and for how long. A link that lasts lives longer with each use. */
export function lifeLine({ ttlSeconds, lasts }: { ttlSeconds: number; lasts: boolean }): string {
  const time = spelled(ttlSeconds);
  return lasts
    ? `The user can open the link as long as the file is kept, at least ${time}.`
    : `The user can open the link for ${time}.`;
}

/** Hosts cut long results off and blame the server. */
export const COMPLETE_LINE = 'Complete file, nothing truncated.';

/** A model that measures or reads a preview must know that it is not the original image. */
export function previewLine(preview: Pixels, source: Pixels, where: 'above' | 'below'): string {
  return `The image ${where} is a preview of ${pixelsText(preview)}; the original is ${pixelsText(source)}.`;
}

export function pixelsText({ width, height }: Pixels): string {
  return `${width} × ${height}`;
}

function spelled(seconds: number): string {
  if (seconds < 120) return `${seconds} seconds`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} minutes`;
  return `${Math.round(seconds / 3600)} hours`;
}
