import filenamify from 'filenamify';

/** Most bytes of a name in UTF-8. File systems take 255; the rest is for the `.part` or ` (1)` that a browser adds. */
export const MAX_NAME_BYTES = 200;

/** A longer ending is no extension; one this long still leaves room for a name. */
const MAX_EXTENSION_BYTES = 32;
/**
 * What is looked at of a name. Patterns that look for an ending take quadratic time on runs of dots and spaces: 4096 of
 * them cost 200 ms, this many 4 ms.
 */
const MAX_INPUT_CHARACTERS = 512;
/** What is looked at of a path or URI to find its last segment. */
const MAX_PATH_CHARACTERS = 64 * 1024;

/**
 * Lone surrogates (they would make `encodeURIComponent` throw), controls, bidi overrides and other invisible format
 * characters, line and paragraph separators, private use, and the code points that are no characters. A zero-width
 * joiner stays where it joins two emoji into one.
 */
const UNSAFE = /(?!\u200d)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Co}\uFDD0-\uFDEF\uFFF0-\uFFFF]/gu;
const STRAY_JOINER =
  /(?<!\p{Extended_Pictographic}|\p{Emoji_Modifier}|\ufe0f)\u200d|\u200d(?!\p{Extended_Pictographic})/gu;
/** A leading dot hides the file, a leading dash makes it an option of a command, a tilde a home folder. */
const LEADING = /^[\s.~-]+/u;
const TRAILING = /[\s.]+$/u;

/**
 * Makes a file name from what a peer said: one path segment, well-formed and NFC, without control or bidi
 * characters, not hidden, not a reserved name of Windows, at most `MAX_NAME_BYTES` bytes with its extension kept.
 * Cleaning a clean name changes nothing.
 * @param fallback the name when nothing is left; itself clean
 */
export function cleanFileName(untrusted: string, fallback = 'file'): string {
  let name = lastSegment(untrusted.slice(-MAX_PATH_CHARACTERS));
  if (name.length > MAX_INPUT_CHARACTERS)
    name = name.slice(0, MAX_INPUT_CHARACTERS / 2) + name.slice(-MAX_INPUT_CHARACTERS / 2);
  // Each step can bring about what an earlier one looks for (".CON" without its dot is "CON"), hence the rounds.
  for (let round = 0; round < 4; round++) {
    const before = name;
    name = cleanOnce(name);
    if (name === before) break;
  }
  return name === '' ? fallback : name;
}

function cleanOnce(name: string): string {
  const visible = name
    .replace(UNSAFE, '')
    .replace(STRAY_JOINER, '')
    .normalize('NFC')
    .replace(LEADING, '')
    .replace(TRAILING, '');
  // filenamify makes a name of nothing out of nothing, and its "." and ".." rules are dealt with above.
  if (visible === '') return '';
  const portable = filenamify(visible, { replacement: '_', maxLength: MAX_INPUT_CHARACTERS });
  return shorten(portable.replace(LEADING, '').replace(TRAILING, ''));
}

/** What follows the last slash or backslash; a name that ends in one has no last segment but an earlier one. */
function lastSegment(path: string): string {
  let end = path.length;
  while (end > 0 && isSeparator(path.charCodeAt(end - 1))) end--;
  let start = end;
  while (start > 0 && !isSeparator(path.charCodeAt(start - 1))) start--;
  return path.slice(start, end);
}

function isSeparator(code: number): boolean {
  return code === 0x2f || code === 0x5c;
}

function shorten(name: string): string {
  if (Buffer.byteLength(name) <= MAX_NAME_BYTES) return name;
  const dot = name.lastIndexOf('.');
  const extension = dot > 0 && Buffer.byteLength(name.slice(dot)) <= MAX_EXTENSION_BYTES ? name.slice(dot) : '';
  let room = MAX_NAME_BYTES - Buffer.byteLength(extension);
  let base = '';
  for (const character of name) {
    room -= Buffer.byteLength(character);
    if (room < 0) break;
    base += character;
  }
  return base.replace(TRAILING, '') + extension;
}

export interface NameFacts {
  /** The name the peer gave, if any. */
  name?: string | undefined;
  /** The URI under which the peer knows the file; its last path segment can serve as a name. */
  uri?: string | undefined;
  /** What the call, or a text beside the file, says that it is called; asked where its server does not say so itself. */
  told?: (() => string | undefined) | undefined;
  /** The tool or prompt the file came from. */
  owner: string;
  /** Which file of that result it is, from 1. */
  index: number;
  /** Extension of the file's type, without the dot. */
  ext: string;
}

/**
 * The name a file is shown and saved under: the given one, else its URI's, else what it was told to be called, else
 * `<owner>-<index>.<ext>`. A URI without a path may be a name all the same, when it ends as files of that type do.
 */
export function fileNameFor({ name, uri, told, owner, index, ext }: NameFacts): string {
  const given = name === undefined ? '' : cleanFileName(name, '');
  if (given !== '') return given;
  const segment = uri === undefined ? '' : cleanFileName(segmentOf(uri), '');
  if (/.\.[^.]{1,16}$/u.test(segment)) return segment;
  const said = told?.();
  if (said !== undefined) return said;
  if (segment !== '') return cleanFileName(`${segment}.${ext}`);
  const authority = uri === undefined ? '' : cleanFileName(bareAuthority(uri), '');
  if (authority.toLowerCase().endsWith(`.${ext}`)) return authority;
  return cleanFileName(`${cleanFileName(owner, 'file')}-${index}.${ext}`);
}

/** `report.pdf` of `docs://report.pdf`: servers with schemes of their own often write no path. */
function bareAuthority(uri: string): string {
  const found = uri.length > MAX_PATH_CHARACTERS ? null : /^[a-z][a-z0-9+.-]*:\/\/([^/?#\\@:]+)\/?$/i.exec(uri);
  return found ? decoded(found[1] as string) : '';
}

/** The last path segment of a URI, decoded. Empty when it has no path, or is bytes rather than a name (`data:`). */
function segmentOf(uri: string): string {
  if (uri.length > MAX_PATH_CHARACTERS || /^(?:data|blob|cid|mid|urn):/i.test(uri)) return '';
  const path = uri.replace(/[?#][\s\S]*$/, '').replace(/^[a-z][a-z0-9+.-]*:(?:\/\/[^/]*)?/i, '');
  return decoded(lastSegment(path));
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
