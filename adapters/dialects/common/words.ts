import { COMPLETE_LINE, fileLine, lifeLine, previewLine } from '../../../gateway/policy/file-words.js';
import type { OutgoingFile, Preview } from '../../../gateway/ports/dialect.js';

/** A file's name, type and size. */
export function factLines({ ref }: OutgoingFile): string[] {
  return [fileLine(ref)];
}

export function linkLines({ ref: { link } }: OutgoingFile): string[] {
  return [link.url, COMPLETE_LINE, lifeLine(link)];
}

/** Empty when the model has been shown no tool that takes a handle. */
export function handleLines({ ref, uses }: OutgoingFile): string[] {
  if (!uses) return [];
  const what = [
    ...(uses.isTaken ? ['pass it to a tool that takes a file'] : []),
    ...(uses.linkTool === undefined ? [] : [`${uses.linkTool} renews the link`]),
  ];
  return [`Handle: ${ref.uri} (${what.join('; ')})`];
}

export function previewLines(preview: Preview | undefined): string[] {
  return preview ? [previewLine(preview, preview.source, 'below')] : [];
}
