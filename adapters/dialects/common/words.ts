import {
  COMPLETE_LINE,
  contentFacts,
  fileLine,
  lifeLine,
  previewLine,
  textLines,
} from '../../../gateway/policy/file-words.js';
import type { OutgoingFile, Preview } from '../../../gateway/ports/dialect.js';

/** A file's name, type and size, and what is known of its content. */
export function factLines({ ref, preview }: OutgoingFile): string[] {
  return [fileLine(ref, preview ? contentFacts(preview.facts) : [])];
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

/** About the image that follows, or the text itself: the last lines about a file. */
export function previewLines(preview: Preview | undefined): string[] {
  if (preview?.image) return [previewLine(preview.image, preview.facts, 'below')];
  return preview?.text ? textLines(preview.text, preview.facts) : [];
}
