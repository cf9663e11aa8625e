import { countText, sizeText } from './amounts.js';
import { withoutHidden } from './plain-sight.js';

/** Pixels. */
interface Pixels {
  width: number;
  height: number;
}

/** What is known of a file's content. */
interface Content {
  pixels?: Pixels;
  pages?: number;
  frames?: number;
  images?: number;
  seconds?: number;
  entries?: number;
  isLocked?: true;
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

/** How long a link works. */
interface Life {
  ttlSeconds: number;
  /** It lives longer with each use. */
  lasts: boolean;
  endsWithProcess?: true;
}

/** Who can use a link, and for how long. */
export function lifeLine({ ttlSeconds, lasts, endsWithProcess }: Life): string {
  if (endsWithProcess)
    return 'The user can open the link while this server runs and keeps the file. Save it to have it longer.';
  const time = spelled(ttlSeconds);
  return lasts
    ? `The user can open the link as long as the file is kept, at least ${time}.`
    : `The user can open the link for ${time}.`;
}

/** @param uses what a model can do with the handle, each as a command */
export function handleLine(uri: string, uses: readonly string[]): string {
  return uses.length === 0 ? `Handle: ${uri}` : `Handle: ${uri} (${uses.join('; ')})`;
}

/** Hosts cut long results off and blame the server. */
export const COMPLETE_LINE = 'Complete file, nothing truncated.';

/** Of an image whose format, or whose damage, allows none. */
export const NO_PREVIEW_LINE = 'There is no preview of this image.';

/** Before an image that a host may leave out. */
export const MAY_BE_UNSEEN_LINE = 'If no image follows, you are not shown it: the user can open the link.';

/** A model that wants to see the image can have it made smaller. */
export function tooManyPixelsLine({ width, height }: Pixels, most: number): string {
  const has = `it has ${megapixels(width * height)} megapixels, and one is made of at most ${megapixels(most)}`;
  return `There is no preview of this image: ${has}. A smaller version of it can be shown.`;
}

function megapixels(pixels: number): string {
  return String(Math.ceil(pixels / 100_000) / 10);
}

/** Facts for a file's line. An image's size is written beside its preview. */
export function contentFacts({ pages, frames, images, seconds, entries, isLocked }: Content): string[] {
  return [
    ...(pages === undefined ? [] : [countText(pages, 'page')]),
    ...(frames === undefined ? [] : [countText(frames, 'frame')]),
    ...(images === undefined ? [] : [countText(images, 'image')]),
    ...(seconds === undefined ? [] : [`${durationText(seconds)} long`]),
    ...(entries === undefined ? [] : [countText(entries, 'entry', 'entries')]),
    ...(isLocked ? ['needs a password'] : []),
  ];
}

/** A model that measures or reads a preview must know that it is not the original. */
export function previewLine(preview: Pixels, content: Content, where: 'above' | 'below'): string {
  const original = content.pixels ? `; the original is ${pixelsText(content.pixels)}` : '';
  return `The image ${where} is a preview of ${pixelsText(preview)}${firstOf(content)}${original}.`;
}

/** A model that sees one of several takes it for all there is. */
function firstOf({ pages = 1, frames = 1, images = 1 }: Content): string {
  if (pages > 1) return ', the first page';
  if (frames > 1) return ', the first frame';
  return images > 1 ? ', the first image' : '';
}

/** The beginning of a file, or the names in it, and how much of the whole that is. */
export function textLines(
  { of, text, isWhole }: { of: 'lines' | 'names'; text: string; isWhole: boolean },
  { entries }: Content,
): string[] {
  if (isWhole) return [`All its ${of}:`, text];
  const count = text.split('\n').length;
  if (of === 'names' && entries !== undefined)
    return [`${count} of its ${countText(entries, 'name')}, long ones cut:`, text];
  return [count === 1 ? 'Its first line, cut if long:' : `Its first ${count} ${of}, long ones cut:`, text];
}

/** A name in an archive, on one line, as a person sees it. */
export function innerName(name: string): string {
  return withoutHidden(name, '\ufffd') || '\ufffd';
}

/** `1092 × 683` */
export function pixelsText({ width, height }: Pixels): string {
  return `${width} × ${height}`;
}

/** `1:02:03`, `2:03` */
function durationText(seconds: number): string {
  const whole = Math.round(seconds);
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const two = (part: number) => String(part).padStart(2, '0');
  return hours > 0 ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}

function spelled(seconds: number): string {
  if (seconds < 120) return `${seconds} seconds`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} minutes`;
  return `${Math.round(seconds / 3600)} hours`;
}

/** Of an argument that is filled from the file beside it: another Wharf in front reads it too. */
export function filledText(what: string): string {
  return `Filled automatically with the file's ${what}, unless given.`;
}

/** The argument for the file's name. */
export const FILLED_WITH_NAME = filledText('name');

/** A text of a server's as a sentence before others; an empty one stays empty. */
export function sentence(text: string): string {
  const trimmed = text.trim();
  return /[.!?…:。！？：]$/.test(trimmed) || trimmed === '' ? trimmed : `${trimmed}.`;
}
