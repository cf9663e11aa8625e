import { isMediaType } from '../../files/names/media-type.js';
import { isFileEnding } from '../../files/names/told-name.js';
import type { FileClaims } from '../../ports/file.js';
import type { JsonObject, JsonValue } from '../../ports/json.js';
import type { NestedPlace } from '../cut/nested-places.js';

/** Types of MCP's blocks whose `data` is base64. */
const BLOCKS: ReadonlySet<unknown> = new Set(['image', 'audio']);

/** Top-level types of RFC 6838. Any other text with a slash is more likely a path. */
const TOP_LEVEL = /^(?:application|audio|font|image|model|text|video)\//i;

/** `mimeType`, `media_type`, `Content-Type`, `format` … */
const TYPE_KEY = /type|mime|format/i;

/** A longer text is not a media type, and is not searched. */
const MAX_TYPE = 256;

/** Members in which a writer gives a file's name. */
const FILE_NAME = /^file[-_]?name$/i;

/** `name`, `path`, `file_path`, `savedPath` …, with a name that ends like one of a file. */
const NAME_KEY = /(?:name|path)$/i;
const NAME_ENDING = /[^./\\\s]\.([A-Za-z0-9]{1,5})$/;

/** `format`, `type`, `ext`, `file_type`, `imageFormat` …, of which the value is such an ending. */
const FORMAT_KEY = /(?:format|type|ext|extension)$/i;
const FORMAT = /^\.?([A-Za-z0-9]{1,5})$/;

/** `encoding`, `contentEncoding` … */
const ENCODING_KEY = /encoding$/i;

/** `image_base64`, `contentBase64`, `b64_json` … */
const BASE64_KEY = /base64|b64/i;

/** Between the words of a key, of which the last may be a format: `pdf`, `report_pdf`, `chartPng`. */
const WORDS = /[_-]|(?<=[a-z0-9])(?=[A-Z])/;

/** Endings of one character, such as `c`, are more often something else. */
const MIN_FORMAT_KEY = 2;

/** Members of an object that are looked at. */
const MOST_MEMBERS = 64;

/**
 * What the object around a string says of it as a file: it is the `data` of an image or audio block, the `blob` of a
 * resource, or beside a media type. Undefined for any other string, which may be base64 by chance.
 */
export function markedAs({ holder, key }: NestedPlace): FileClaims | undefined {
  // MCP's resources have their text beside a media type
  if (Array.isArray(holder) || key === 'text') return undefined;
  const mimeType = mediaTypeIn(holder);
  const isBlock = isBlockData(holder, key);
  const isResource = isResourceBlob(holder, key);
  if (mimeType === undefined && !isBlock && !isResource) return undefined;
  return {
    ...(mimeType !== undefined && { mimeType }),
    ...namedAs({ holder, key }),
    ...(isResource && { uri: String(holder.uri) }),
  };
}

/** The name that stands beside a string which is a file. */
export function namedAs({ holder, key }: NestedPlace): Pick<FileClaims, 'name'> {
  if (Array.isArray(holder)) return {};
  if (key !== 'name' && typeof holder.name === 'string') return { name: holder.name };
  const found = Object.entries(holder).find(
    ([member, value]) => member !== key && typeof value === 'string' && FILE_NAME.test(member),
  );
  return found ? { name: String(found[1]) } : {};
}

/**
 * Whether an object speaks of one of its strings as of a file: of its encoding, its name or its format, also by its key.
 * Not enough by itself, because a hash has a name and an encoding too; bytes that begin as a known format are, then, a file.
 */
export function isSpokenOfAsFile({ holder, key }: NestedPlace): boolean {
  if (Array.isArray(holder) || key === 'text') return false;
  if (BASE64_KEY.test(String(key)) || isFormat(String(key))) return true;
  return Object.entries(holder)
    .slice(0, MOST_MEMBERS)
    .some(([member, value]) => member !== key && typeof value === 'string' && speaksOfFile(member, value));
}

/** `{"pdf": "JVBERi0x…", "pages": 2}` says as much as `{"format": "pdf", "data": "JVBERi0x…"}`. */
function isFormat(key: string): boolean {
  const word = key.slice(-MAX_TYPE).split(WORDS).at(-1) ?? '';
  return word.length >= MIN_FORMAT_KEY && isFileEnding(word);
}

function speaksOfFile(member: string, value: string): boolean {
  if (ENCODING_KEY.test(member)) return value.toLowerCase() === 'base64';
  const ending = NAME_KEY.test(member)
    ? NAME_ENDING.exec(value.slice(-MAX_TYPE))?.[1]
    : FORMAT_KEY.test(member) && FORMAT.exec(value)?.[1];
  return ending ? isFileEnding(ending) : false;
}

/**
 * Makes the test whether `markedAs` says something of a place. It reads each object once, however many strings are in
 * it.
 */
export function createMarks(): (place: NestedPlace) => boolean {
  const typed = new Map<JsonObject, boolean>();
  return ({ holder, key }) => {
    if (Array.isArray(holder) || key === 'text') return false;
    if (isBlockData(holder, key) || isResourceBlob(holder, key)) return true;
    const known = typed.get(holder) ?? mediaTypeIn(holder) !== undefined;
    typed.set(holder, known);
    return known;
  };
}

function isBlockData(holder: JsonObject, key: string | number): boolean {
  return key === 'data' && BLOCKS.has(holder.type);
}

function isResourceBlob(holder: JsonObject, key: string | number): boolean {
  return key === 'blob' && typeof holder.uri === 'string';
}

/** The media type among an object's members: that of a member named after it, otherwise the first. */
function mediaTypeIn(holder: JsonObject): string | undefined {
  const found = Object.entries(holder).filter((member): member is [string, string] => isType(member[1]));
  return (found.find(([key]) => TYPE_KEY.test(key)) ?? found[0])?.[1];
}

function isType(value: JsonValue): boolean {
  return typeof value === 'string' && value.length <= MAX_TYPE && TOP_LEVEL.test(value) && isMediaType(value);
}
