import { curlSave } from '../../../gateway/policy/curl.js';
import {
  COMPLETE_LINE,
  contentFacts,
  fileLine,
  handleLine,
  lifeLine,
  MAY_BE_UNSEEN_LINE,
  NO_PREVIEW_LINE,
  pixelsText,
  previewLine,
  textLines,
  tooManyPixelsLine,
} from '../../../gateway/policy/file-words.js';
import type { ClientFacts } from '../../../gateway/ports/client.js';
import type { OutgoingFile } from '../../../gateway/ports/dialect.js';

/** A file's name, type and size, and what is known of its content; the line about an image says its pixels. */
export function factLines({ ref, preview }: OutgoingFile): string[] {
  if (!preview) return [fileLine(ref)];
  const { image, facts } = preview;
  return [fileLine(ref, [...(image || !facts.pixels ? [] : [pixelsText(facts.pixels)]), ...contentFacts(facts)])];
}

/** What a model reads about a link: its address, that the file is complete, and when the link ends. */
export function linkLines({ ref: { name, link } }: OutgoingFile, { host }: Pick<ClientFacts, 'host'>): string[] {
  return [link.url, COMPLETE_LINE, lifeLine(link), ...(host?.curl ? [curlSave(name, link.url)] : [])];
}

/** Empty when the model has been shown no tool that takes a handle. */
export function handleLines({ ref, uses }: OutgoingFile): string[] {
  if (!uses) return [];
  const what = [
    ...(uses.isTaken ? ['pass it to a tool that takes a file'] : []),
    ...(uses.linkTool === undefined ? [] : [`${uses.linkTool} renews the link`]),
  ];
  return [handleLine(ref.uri, what)];
}

/** About the image that follows, or the text itself: the last lines about a file. */
export function previewLines(
  { ref: { mimeType }, preview }: OutgoingFile,
  { host }: Pick<ClientFacts, 'host'> = {},
): string[] {
  // a model that expects an image would look for one
  if (!preview) return mimeType.startsWith('image/') ? [NO_PREVIEW_LINE] : [];
  const { pixels } = preview.facts;
  if (preview.mostPixels !== undefined && pixels) return [tooManyPixelsLine(pixels, preview.mostPixels)];
  const unseen = host?.images === 'with-text' ? [MAY_BE_UNSEEN_LINE] : [];
  if (preview.image) return [previewLine(preview.image, preview.facts, 'below'), ...unseen];
  if (preview.text) return textLines(preview.text, preview.facts);
  return mimeType.startsWith('image/') ? unseen : [];
}
