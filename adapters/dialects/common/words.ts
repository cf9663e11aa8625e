import { sizeText } from '../../../gateway/policy/amounts.js';
import type { OutgoingFile, Preview } from '../../../gateway/ports/dialect.js';

/**
 * What a model reads about a file, one fact per line. Addresses have a line of their own, so that they can be copied
 * whole.
 */
export function fileLine({ ref }: OutgoingFile): string {
  return `File: ${ref.name} (${ref.mimeType}, ${sizeText(ref.size)})`;
}

export function linkLines({ ref: { link } }: OutgoingFile): string[] {
  const life = link.lasts
    ? `The link works as long as the file is kept: until ${link.expiresAt}, and longer each time it is used.`
    : `The link works for ${timeText(link.ttlSeconds)}, until ${link.expiresAt}.`;
  return [`Download: ${link.url}`, life];
}

/** Empty when the model has been shown no tool that takes a handle. */
export function handleLines({ ref, uses }: OutgoingFile): string[] {
  if (!uses) return [];
  const what = [
    ...(uses.isTaken ? ['pass it to a tool that takes a file'] : []),
    ...(uses.linkTool === undefined ? [] : [`${uses.linkTool} gives new links for it`]),
  ];
  return [`Handle: ${ref.uri} (${what.join('; ')})`];
}

/** A model that measures or reads a preview must know that it is not the original image. */
export function previewLines(preview: Preview | undefined): string[] {
  if (!preview) return [];
  const { width, height, source } = preview;
  return [
    `The image below is a preview of ${width} × ${height} pixels; the original is ${source.width} × ${source.height}.`,
  ];
}

function timeText(seconds: number): string {
  if (seconds < 120) return `${seconds} seconds`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} minutes`;
  return `${Math.round(seconds / 3600)} hours`;
}
