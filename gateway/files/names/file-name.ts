import filenamify from 'filenamify';
import { withoutHidden } from '../../policy/plain-sight.js';
import { percentDecoded } from '../../wire/data-uri.js';

/** Most bytes of a name in UTF-8. File systems allow 255; the rest is for the `.part` or ` (1)` that a browser adds. */
export const MAX_NAME_BYTES = 200;

/** A longer ending is not an extension; one this long still leaves room for a name. */
const MAX_EXTENSION_BYTES = 32;
/**
 * How much of a name is read. filenamify's patterns for an ending take quadratic time on runs of dots and spaces: 4096
 * of them cost 40 ms, this many 1 ms.
 */
const MAX_INPUT_CHARACTERS = 512;
/** How much of a path or URI is read to find its last segment. */
const MAX_PATH_CHARACTERS = 64 * 1024;

/** Noncharacters and their neighbours. What no person sees goes as well: lone surrogates make `encodeURIComponent` throw. */
const UNSAFE = /[\uFDD0-\uFDEF\uFFF0-\uFFFF]/gu;
const NON_JOINER = '\u200c';
const STAND_IN = '\ufdd0';
/** A leading dot hides a file, a leading dash makes it a command option, a tilde a home folder. */
const LEADING = /^[\s.~-]+/u;
const TRAILING = /(?<![\s.])[\s.]+$/u;
/** Clean as it is, which most names are: the steps take 4 µs for one, and a file goes through them several times. */
const PLAIN = /^(?!(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$))\w[\w-]*(?:\.[\w-]+)*$/i;

/**
 * Makes a file name from a peer's text: one path segment, well-formed and NFC, without control or bidi characters, not
 * hidden, not a reserved name of Windows, at most `MAX_NAME_BYTES` bytes with its extension kept. Idempotent.
 * @param fallback the name when nothing is left; itself clean
 */
export function cleanFileName(untrusted: string, fallback = 'file'): string {
  let name = lastSegment(untrusted.slice(-MAX_PATH_CHARACTERS));
  if (name.length <= MAX_NAME_BYTES && PLAIN.test(name)) return name;
  if (name.length > MAX_INPUT_CHARACTERS)
    name = name.slice(0, MAX_INPUT_CHARACTERS / 2) + name.slice(-MAX_INPUT_CHARACTERS / 2);
  // Each step can create what an earlier one removes (".CON" without its dot is "CON"), hence the rounds.
  for (let round = 0; round < 4; round++) {
    const before = name;
    name = cleanOnce(name);
    if (name === before) break;
  }
  return name === '' ? fallback : name;
}

function cleanOnce(name: string): string {
  const visible = withoutHidden(name, '')
    .replace(UNSAFE, '')
    .normalize('NFC')
    .replace(LEADING, '')
    .replace(TRAILING, '');
  // filenamify invents a name for an empty one, and its "." and ".." rules are handled above.
  if (visible === '') return '';
  // it knows the joiner of two emoji, and not what parts two letters; that is a noncharacter while it looks, which none is left of
  const given = visible.replaceAll(NON_JOINER, STAND_IN);
  const portable = filenamify(given, { replacement: '_', maxLength: MAX_INPUT_CHARACTERS }).replaceAll(
    STAND_IN,
    NON_JOINER,
  );
  return shorten(portable.replace(LEADING, '').replace(TRAILING, ''));
}

/** The last non-empty segment of a path with slashes or backslashes. */
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

interface NameFacts {
  /** The name the peer gave, if any. */
  name?: string | undefined;
  /** The peer's URI of the file; its last path segment can serve as a name. */
  uri?: string | undefined;
  /** The name that the call, or a text near the file, gives it; read only if the server itself does not name it. */
  told?: (() => string | undefined) | undefined;
  /** The tool or prompt the file came from. */
  owner: string;
  /** Position among the files of that result, from 1. */
  index: number;
  /** Extension of the file's type, without the dot. */
  ext: string;
}

/**
 * The name that a file is shown and saved under: the given one, else its URI's, else the one from the call or a text,
 * else `<owner>-<index>.<ext>`. A URI without a path counts as a name if it ends like files of that type.
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

/** `report.pdf` of `docs://report.pdf`: servers with their own schemes often write no path. */
function bareAuthority(uri: string): string {
  const found = uri.length > MAX_PATH_CHARACTERS ? null : /^[a-z][a-z0-9+.-]*:\/\/([^/?#\\@:]+)\/?$/i.exec(uri);
  return found ? percentDecoded(found[1] as string) : '';
}

/** The last path segment of a URI, decoded. Empty when it has no path, or holds bytes instead of a name (`data:`). */
function segmentOf(uri: string): string {
  if (uri.length > MAX_PATH_CHARACTERS || /^(?:data|blob|cid|mid|urn):/i.test(uri)) return '';
  const path = uri.replace(/[?#][\s\S]*$/, '').replace(/^[a-z][a-z0-9+.-]*:(?:\/\/[^/]*)?/i, '');
  return percentDecoded(lastSegment(path));
}
