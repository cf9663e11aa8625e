import { fileTypeFromBuffer } from 'file-type';
import { officeType } from './office-type.js';
import { pictureType } from './picture-type.js';
import type { Sniffed } from './sniffed.js';
import { textHint, utf16Hint } from './text-hint.js';

/** The type of bytes about which nothing is known (RFC 2046 §4.5.1). */
export const OCTET_STREAM = 'application/octet-stream';

/** How many of a file's first bytes `sniff` reads; more are ignored. file-type asks for 4100. */
export const SNIFF_BYTES = 4100;

/**
 * Guesses a file's type from its first bytes. This is a hint for names, previews and catching a wrong declaration. It
 * proves nothing, because one file can be valid in several types.
 * @returns undefined for bytes of an unknown type. Never rejects.
 */
export async function sniff(first: Buffer): Promise<Sniffed | undefined> {
  const head = first.subarray(0, SNIFF_BYTES);
  const isComplete = first.length <= SNIFF_BYTES;
  let found = pictureType(head) ?? utf16Hint(head, isComplete);
  try {
    found ??= await fileTypeFromBuffer(head);
  } catch {
    // A damaged container must not lose the file: its bytes are delivered whatever they are.
  }
  // file-type calls every XML document application/xml, but serving safely requires telling SVG and XHTML apart.
  found ??= tiffType(head);
  if (found === undefined || found.mime === 'application/xml') return textHint(head, isComplete) ?? found;
  if (found.mime === 'application/zip') return officeType(head) ?? found;
  const mime = found.mime.toLowerCase().split(';', 1)[0] ?? OCTET_STREAM;
  return textUnder(mime, head, isComplete) ?? { mime, ext: found.ext };
}

/**
 * A TIFF whose directory stands behind its pixels, as most programs write it. file-type reads the directory, because photos
 * of cameras (DNG, NEF) begin with the same bytes, and says nothing where it is not within the first ones.
 */
function tiffType(head: Buffer): Sniffed | undefined {
  return TIFF_SIGNATURES.has(head.toString('latin1', 0, 4)) ? { mime: 'image/tiff', ext: 'tif' } : undefined;
}

/** Of files whose numbers begin with their lowest byte, and with their highest. */
const TIFF_SIGNATURES = new Set(['II*\0', 'MM\0*']);

/** Formats that are text, or may begin as text. */
const AS_TEXT =
  /^(?:text\/|application\/(?:pdf|rtf|postscript|eps|pgp-encrypted|x-ms-regedit|x-unix-archive|x-cpio)$|model\/stl$|.*\+xml$)/;
/** Letters, digits and the like. */
const PRINTABLE = /^[\x20-\x7e]+$/;

/**
 * Some formats are known by their first two or three letters, with which a text may begin as well: a table with the column
 * "BMI" is not a BMP. Their files hold control characters soon after, and a text never does.
 */
function textUnder(mime: string, head: Buffer, isComplete: boolean): Sniffed | undefined {
  // cheap, and enough for most files: the pictures that servers give begin with other bytes
  if (!PRINTABLE.test(head.toString('latin1', 0, 2)) || AS_TEXT.test(mime)) return undefined;
  return textHint(head, isComplete);
}

/** RFC 6838 §4.2: both names are 1 to 127 characters and begin with a letter or a digit. */
const ESSENCE = /^[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]{0,126}\/[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]{0,126}$/;
/** RFC 9110 §5.6.6: a token, `=`, and a token or a quoted string. */
const PARAMETER =
  /[ \t]*;[ \t]*([\w!#$%&'*+.^`|~-]{1,127})=([\w!#$%&'*+.^`|~-]{1,127}|"(?:[ !#-[\]-~]|\\[ -~]){0,255}")/y;
/** A longer list of parameters does not describe a file. */
const MAX_LENGTH = 512;

/**
 * The essence (`type/subtype`, lower case) and charset of a declared media type.
 * @returns undefined for anything that RFC 6838 and RFC 9110 do not allow, which must not be repeated
 */
export function parseMediaType(declared: string): { essence: string; charset?: string } | undefined {
  if (declared.length > MAX_LENGTH) return undefined;
  const text = declared.trim();
  const semicolon = text.indexOf(';');
  const essence = (semicolon === -1 ? text : text.slice(0, semicolon)).trimEnd();
  if (!ESSENCE.test(essence)) return undefined;
  let charset: string | undefined;
  let at = essence.length;
  while (at < text.length) {
    PARAMETER.lastIndex = at;
    const match = PARAMETER.exec(text);
    if (match === null) return undefined;
    at = PARAMETER.lastIndex;
    if (match[1]?.toLowerCase() === 'charset') charset ??= match[2]?.replaceAll('"', '').toLowerCase();
  }
  return { essence: essence.toLowerCase(), ...(charset === undefined ? {} : { charset }) };
}

/** True for a media type that may be repeated to a client or kept in a record. */
export function isMediaType(declared: string): boolean {
  return parseMediaType(declared) !== undefined;
}

const ALIASES: Readonly<Record<string, string>> = {
  'image/jpg': 'image/jpeg',
  'image/pjpeg': 'image/jpeg',
  'image/x-png': 'image/png',
  'image/apng': 'image/png',
  'application/x-pdf': 'application/pdf',
  'application/x-zip-compressed': 'application/zip',
  // as FastMCP's `File(format="docx")` writes them
  'application/docx': 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  'application/pptx': 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  'application/xlsx': 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
};

/**
 * The type that a file is recorded and announced under (essence only): the declared one, unless the bytes plainly
 * contradict it, as an image, audio, video or PDF signature under another declaration does, or text declared as media.
 */
export function mediaTypeOf(declared: string | undefined, sniffed: Sniffed | undefined): string {
  const parsed = declared === undefined ? undefined : parseMediaType(declared)?.essence;
  const said = parsed === undefined ? undefined : (ALIASES[parsed] ?? parsed);
  if (said === undefined || said === OCTET_STREAM) return sniffed?.mime ?? OCTET_STREAM;
  if (sniffed === undefined || sniffed.mime === said) return said;
  const saidKind = kindOf(said);
  const seenKind = kindOf(sniffed.mime);
  // audio/mp4 and video/mp4 (ogg, webm) share one signature, so the declaration decides.
  if (seenKind === 'image' || seenKind === 'pdf') return sniffed.mime;
  if (seenKind === 'time-based') return saidKind === 'time-based' ? said : sniffed.mime;
  if (seenKind === 'text' && (saidKind === 'image' || saidKind === 'time-based' || saidKind === 'pdf'))
    return sniffed.mime;
  return said;
}

/** True for types with unmistakable first bytes: a file without those is of another type. */
export function showsInBytes(mime: string): boolean {
  const kind = kindOf(mime);
  return kind === 'image' || kind === 'time-based' || kind === 'pdf';
}

type Kind = 'image' | 'time-based' | 'pdf' | 'text' | 'other';

/** What a type is good for, as far as a type's first bytes tell. */
export function kindOf(mime: string): Kind {
  if (mime.endsWith('+xml') || mime.endsWith('/xml') || mime === 'application/json') return 'text';
  if (mime === 'application/pdf') return 'pdf';
  const top = mime.slice(0, mime.indexOf('/'));
  if (top === 'audio' || top === 'video') return 'time-based';
  return top === 'image' || top === 'text' ? top : 'other';
}

/** Text types that a browser only displays. Any other text type could be one it runs or applies. */
const PLAIN_TEXT = new Set([
  'text/plain',
  'text/csv',
  'text/markdown',
  'text/tab-separated-values',
  'text/calendar',
  'text/vcard',
]);
/** Types outside `text/` in which a browser runs script, or that contain parts with types of their own. */
const ACTIVE =
  /^(?:multipart|message|x-[^/]*)\/|[/+](?:xml|html|xhtml|mhtml)\b|script|\bwasm\b|shockwave|mathml|svg|x-mimearchive|java|hta$/;
/** Charsets in which ASCII bytes are ASCII. UTF-7 is not one: there `+ADw-` is `<`. */
const CHARSETS = new Set([
  'utf-8',
  'us-ascii',
  'iso-8859-1',
  'windows-1252',
  'shift_jis',
  'euc-jp',
  'euc-kr',
  'gbk',
  'big5',
]);

/**
 * The Content-Type with which a file of this recorded type may be served: never one in which a browser runs script (HTML,
 * SVG, XML, JavaScript). Text becomes `text/plain`, the rest `application/octet-stream`.
 */
export function safeMediaType(recorded: string): string {
  const mime = mediaTypeOf(recorded, undefined);
  if (mime.startsWith('text/')) {
    const charset = parseMediaType(recorded)?.charset;
    const type = PLAIN_TEXT.has(mime) ? mime : 'text/plain';
    return charset !== undefined && CHARSETS.has(charset) ? `${type}; charset=${charset}` : type;
  }
  return ACTIVE.test(mime) ? OCTET_STREAM : mime;
}

/**
 * Types that a browser shows in the tab, and in which it runs nothing of the file with the rights of the page's origin.
 * Playlists are not among them, because they load other addresses.
 */
const SHOWN = new Set([
  ...['image/avif', 'image/gif', 'image/jpeg', 'image/png', 'image/webp'],
  ...['audio/aac', 'audio/flac', 'audio/mp4', 'audio/mpeg', 'audio/ogg', 'audio/wav', 'audio/webm', 'audio/x-wav'],
  ...['video/mp4', 'video/ogg', 'video/quicktime', 'video/webm'],
  ...['application/pdf', 'text/plain', 'text/markdown'],
]);

/**
 * The Content-Type with which a file of this recorded type may be shown in a browser's tab; undefined for one that may
 * only be saved.
 * @param isUtf8 whether it is UTF-8, if it is a text
 */
export function shownMediaType(recorded: string, isUtf8: boolean): string | undefined {
  const mime = mediaTypeOf(recorded, undefined);
  if (!SHOWN.has(mime)) return undefined;
  if (!mime.startsWith('text/')) return mime;
  // without a charset, browsers guess: never UTF-8, and mostly well what else it is
  return isUtf8 ? 'text/plain; charset=utf-8' : 'text/plain';
}

const EXTENSIONS: Readonly<Record<string, string>> = {
  'application/gzip': 'gz',
  'application/json': 'json',
  'application/msword': 'doc',
  'application/pdf': 'pdf',
  'application/rtf': 'rtf',
  'application/vnd.ms-excel': 'xls',
  'application/vnd.ms-powerpoint': 'ppt',
  'application/vnd.oasis.opendocument.spreadsheet': 'ods',
  'application/vnd.oasis.opendocument.text': 'odt',
  'application/vnd.openxmlformats-officedocument.presentationml.presentation': 'pptx',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
  'application/x-tar': 'tar',
  'application/xhtml+xml': 'xhtml',
  'application/xml': 'xml',
  'application/yaml': 'yaml',
  'application/zip': 'zip',
  'application/zstd': 'zst',
  'audio/aac': 'aac',
  'audio/flac': 'flac',
  'audio/mp4': 'm4a',
  'audio/mpeg': 'mp3',
  'audio/ogg': 'ogg',
  'audio/wav': 'wav',
  'audio/webm': 'weba',
  'audio/x-wav': 'wav',
  'image/avif': 'avif',
  'image/bmp': 'bmp',
  'image/gif': 'gif',
  'image/heic': 'heic',
  'image/jpeg': 'jpg',
  'image/png': 'png',
  'image/svg+xml': 'svg',
  'image/tiff': 'tif',
  'image/vnd.microsoft.icon': 'ico',
  'image/webp': 'webp',
  'image/x-icon': 'ico',
  'text/calendar': 'ics',
  'text/css': 'css',
  'text/csv': 'csv',
  'text/html': 'html',
  'text/javascript': 'js',
  'text/markdown': 'md',
  'text/plain': 'txt',
  'text/tab-separated-values': 'tsv',
  'text/xml': 'xml',
  'video/mp4': 'mp4',
  'video/quicktime': 'mov',
  'video/webm': 'webm',
};

/** The usual extension of a media type, without the dot; `bin` for an unknown one. */
export function extensionFor(mime: string): string {
  const essence = parseMediaType(mime)?.essence ?? OCTET_STREAM;
  const known = EXTENSIONS[ALIASES[essence] ?? essence];
  if (known !== undefined) return known;
  if (essence.endsWith('+json')) return 'json';
  if (essence.endsWith('+xml')) return 'xml';
  if (essence.endsWith('+zip')) return 'zip';
  return essence.startsWith('text/') ? 'txt' : 'bin';
}

/** The usual media type of an extension (without the dot, lower case), if known. */
export function typeForExtension(extension: string): string | undefined {
  return Object.entries(EXTENSIONS).find(([, known]) => known === extension)?.[0];
}

/** The extension for a file without a name: that of its type by `mediaTypeOf`, else the one the bytes suggest. */
export function extensionOf(declared: string | undefined, sniffed: Sniffed | undefined): string {
  const mime = mediaTypeOf(declared, sniffed);
  if (sniffed?.mime === mime) return sniffed.ext;
  const ext = extensionFor(mime);
  return ext === 'bin' && sniffed !== undefined ? sniffed.ext : ext;
}
