import { kindOf, sniff } from './media-type.js';

/** Containers that are neither pictures nor media nor documents of one kind, by signatures of three bytes or more. */
const CONTAINERS = new Set([
  'application/gzip',
  'application/x-7z-compressed',
  'application/x-cfb',
  'application/vnd.rar',
  'application/x-rar-compressed',
  'application/zip',
]);
const OFFICE = /^application\/(?:vnd\.(?:openxmlformats-|oasis\.opendocument)|epub\+zip$)/;

/** Known by two bytes or a few bits, so that a word may begin so once it is decoded. */
const WEAK = new Set(['image/bmp', 'audio/mpeg', 'audio/aac']);

/**
 * True for bytes that begin as no decoded text does by chance: those of pictures, sound, video, PDF, archives and office
 * documents. A string of base64 whose bytes do is a file, whatever stands beside it.
 * @param head a file's first bytes
 */
export async function beginsAsFile(head: Buffer): Promise<boolean> {
  const mime = (await sniff(head))?.mime;
  if (mime === undefined || WEAK.has(mime)) return false;
  const kind = kindOf(mime);
  if (kind === 'image') return mime !== 'image/svg+xml';
  return kind === 'pdf' || kind === 'time-based' || CONTAINERS.has(mime) || OFFICE.test(mime);
}
